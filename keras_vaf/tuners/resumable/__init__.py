"""Keep the files of a KerasTuner search so that it can be resumed."""
