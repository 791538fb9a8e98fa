"""Names of the file and the function in messages. No need to change this file."""

FILE, FUNCTION = "my_bot.py", "choose_move"
