"""Attack every command that writes files, with kills, full disks and wrong input."""
