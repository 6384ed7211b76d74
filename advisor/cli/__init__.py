"""The command line: options, one runner, one file a command."""
