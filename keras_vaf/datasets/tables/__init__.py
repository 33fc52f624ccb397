"""Read users' own tables, and encode their columns as numbers."""
