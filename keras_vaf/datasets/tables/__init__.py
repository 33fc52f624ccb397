"""Users' own tables: reading them, and encoding their columns as numbers."""
