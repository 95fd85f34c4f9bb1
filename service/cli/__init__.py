"""The command line `rocpr`: one file per command, each registered in commands.py."""
