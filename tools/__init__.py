"""Commands that maintain the reports, notebooks and pages of the repository."""
