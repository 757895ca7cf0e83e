"""The command line: one module for each noun."""
