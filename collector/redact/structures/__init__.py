"""Places that tell: what stands behind a name, in a header, in a URL, in a key block, in the output of a tool."""
