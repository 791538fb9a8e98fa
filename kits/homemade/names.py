"""Names of the file and the function in messages. No need to change this file."""

FILE, FUNCTION = "homemade.py", "search"
