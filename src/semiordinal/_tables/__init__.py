"""Tables in files: reading, choosing and encoding columns, writing."""
