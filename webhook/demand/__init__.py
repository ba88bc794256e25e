"""What pods ask for, and how many of them there are: for whoever shows steps to people."""
