"""Places that run machines. A driver does what it is told, and may be told twice."""
