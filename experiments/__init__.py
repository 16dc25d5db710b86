"""Studies of cstree: TOML files, a line of results per cell, tables made from the lines."""
