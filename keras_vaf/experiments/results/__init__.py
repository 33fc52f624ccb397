"""Turn reports into selections, significance tests, tables and figures."""
