"""Write, read, merge and compress the report of each cell."""
