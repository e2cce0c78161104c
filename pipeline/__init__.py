"""Everything of autohold that touches the world: files, clusters, the terminal."""
