"""The command line `rocpr`: one file per command, each registered in main.py."""
