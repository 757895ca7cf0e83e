"""What a server can prove: its certificates, its signature, its own credentials; kept in files."""
