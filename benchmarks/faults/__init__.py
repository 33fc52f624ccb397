"""Attack the package with kills, full disks and wrong files, and count what is lost."""
