"""What notebooks have beside pictures and tables: cells in JavaScript, and progress bars."""
