"""What messages call the file and the function that they are about. No need to change this file."""

FILE, FUNCTION = "homemade.py", "search"
