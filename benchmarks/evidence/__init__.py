"""The trainings of the comparisons that `docs/registered.md` registers."""
