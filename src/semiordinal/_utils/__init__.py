"""What all parts use: checks, files, text, progress, threads."""
