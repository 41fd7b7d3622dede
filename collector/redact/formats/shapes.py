"""Shapes that several formats share: patterns, alphabets, boundaries, and templates for samples.

A name with an article (A_UUID, AN_MD5) is a template; see rule.sample.
"""

from __future__ import annotations

UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
A_UUID = "{0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}"
HEX32, AN_MD5 = "[0-9a-fA-F]{32}", "{0-9a-f:32}"
HEX40, A_SHA1 = "[0-9a-fA-F]{40}", "{0-9a-f:40}"
HEX64, A_SHA256 = "[0-9a-fA-F]{64}", "{0-9a-f:64}"
# A character of base64 of either kind, as it is or escaped for a URL; any other escape ends a token in a URL.
IN_URL = "(?:[A-Za-z0-9+/=_-]|%2[BbFf]|%3[Dd])"
# Three digits in base64: how an encoded number begins.
THREE_DIGITS, SOME_DIGITS = "[MNO][DTjz][AEIMQUYcgk][w-z0-5]", "{MNO:1}{DTjz:1}{AEIMQUYcgk:1}{w-z0-5:1}"

# Alphabets: the insides of character classes.
ALNUM, URL, HEX = "A-Za-z0-9", "A-Za-z0-9_-", "0-9a-f"

# Boundaries, also the insides of character classes. A token made only of base64's letters must not come right after one
# of base64's signs: image data is full of them.
NOT_IN_BASE64 = "0-9A-Za-z+/"
NOT_IN_A_NAME = "0-9A-Za-z_"
NOT_IN_A_SLUG = "0-9A-Za-z_-"
AFTER_BASE64 = "0-9A-Za-z+/="
