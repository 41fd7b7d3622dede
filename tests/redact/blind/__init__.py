"""A corpus by somebody who had not seen the rules: what the redactor finds and leaves in text it was not fitted to.

It is split by form, not by draw: no form of the half `dev` is in the half `held`. Rules may be fixed with the help of
`dev`; nobody looks into `held`, whose results are only counted.
"""
