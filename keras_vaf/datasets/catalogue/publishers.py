"""What holds for all tables of a publisher."""

UCI_LICENCE = "CC BY 4.0"
UCI_CITATION = "UCI Machine Learning Repository"

TORGO = "http://www.ncc.up.pt/~ltorgo/Regression/DataSets.html"
TORGO_CITATION = "L. Torgo, Regression data sets, University of Porto"

UNKNOWN_LICENCE = "unknown, as distributed"
