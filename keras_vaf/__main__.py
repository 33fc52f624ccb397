"""`python -m keras_vaf` is `keras-vaf`."""

from keras_vaf_cli.process import start

if __name__ == "__main__":
    start()
