"""A corpus by somebody who had not seen the rules: what the redactor finds and leaves where nothing was fitted to it.

Forms are halved, not draws: no form of the half `dev` stands in the half `held`. Rules may be mended on `dev`; what
`held` holds is not looked at, only counted.
"""
