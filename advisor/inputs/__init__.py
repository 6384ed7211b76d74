"""What the user gives: files, streams and labels, turned into counts over an ordered domain."""
