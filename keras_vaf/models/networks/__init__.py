"""The networks of the paper: fully connected and convolutional."""
