"""The command line: each file is a group of commands that reads arguments, calls the library and prints."""
