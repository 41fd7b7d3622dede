"""From files to lines: discover, open, cut into lines, parse. Reads only, changes nothing."""
