"""Places that remember. They record decisions and make none; `now` is always an argument."""
