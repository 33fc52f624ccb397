"""The networks of the paper: fully connected and convolutional.

They stay with the models, because estimators and `keras_vaf.experiments` build them,
which do not import `keras_vaf.paper`.
"""
