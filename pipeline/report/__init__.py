"""What people look at: pages of a finished run that can be read, printed, filed and asked, without a server."""
