"""What Python callers use: functions, and their answers with tables, pictures and pages."""
