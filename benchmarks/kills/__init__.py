"""Searches and experiments that are killed again and again, and what is lost."""
