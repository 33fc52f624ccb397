"""`python -m keras_vaf_cli` runs `keras-vaf`."""

from keras_vaf_cli.process import start

if __name__ == "__main__":
    start()
