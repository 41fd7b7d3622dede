"""From files to lines: discover, open, cut into lines, parse. Changes nothing anywhere."""
