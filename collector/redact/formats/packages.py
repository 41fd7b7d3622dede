"""Package and image registries."""

from __future__ import annotations

from base64 import b64decode, b64encode
from random import Random

from collector.redact.formats.by_name import BETWEEN, by_name
from collector.redact.formats.checksums import BASE62, crc32_base62
from collector.redact.formats.shapes import (
    A_SHA1,
    A_UUID,
    AN_MD5,
    HEX32,
    HEX40,
    NOT_IN_BASE64,
    UUID,
    has_digit,
    has_digit_and_letter,
)
from collector.redact.rule import Rule


def _npm(chance: Random) -> str:
    body = "".join(chance.choices(BASE62, k=30))
    return f"npm_{body}{crc32_base62(body)}"


def _docker_auth(chance: Random) -> str:
    password = "".join(chance.choices(BASE62, k=24))
    return '"auth": "' + b64encode(f"acme:{password}".encode()).decode()


def is_user_and_password(secret: str) -> bool:
    """base64 of `user:password`."""
    try:
        user, _, password = b64decode(secret, validate=True).decode("ascii").partition(":")
    except ValueError:
        return False
    return bool(user and password) and (user + password).isprintable()


PACKAGE_RULES = (
    Rule(
        "npm-token",
        "npm",
        r"npm_[A-Za-z0-9]{30,80}",
        examples=(_npm, "npm_{A-Za-z0-9:36}"),
        near_misses=("npm_{a-z:8}_{a-z:30}", "pnpm_{A-Za-z0-9:36}", "npm_{A-Za-z0-9:20}"),
    ),
    Rule(
        "npmrc-credential",
        "npm, yarn, GitHub Packages",
        r"(?:_authToken|_password|npmAuthToken|npmAuthIdent|:_auth)[\"']?[ \t]{0,4}[=:][ \t]{0,4}(?:\\{0,3}[\"'])?"
        r"(?P<secret>[A-Za-z0-9+/=_:.-]{12,1000}[A-Za-z0-9+/=_-])",
        before="",
        after="",
        check=has_digit_and_letter,
        examples=(
            "//registry.acme.test/:_authToken={0-9a-f:8}-{A-Za-z0-9:30}",
            '//registry.acme.test/:_password="{A-Za-z0-9:24}==',
            "npmAuthToken: {A-Za-z0-9:40}",
            "//registry.acme.test/:_auth={A-Za-z0-9:32}=",
        ),
        near_misses=("//registry.acme.test/:_authToken=${NPM_TOKEN}", "npmAuthToken: string", "always-auth=true"),
    ),
    Rule(
        "pypi-token",
        "PyPI",
        r"pypi-(?:AgE[A-Za-z0-9_-]{16,1500}|[A-Za-z0-9_-]{50,1500})",
        check=has_digit_and_letter,
        examples=("pypi-AgEIcHlwaS5vcmc{A-Za-z0-9_-:160}", "pypi-AgENdGVzdC5weXBpLm9yZw{A-Za-z0-9_-:150}"),
        near_misses=("pypi-{A-Za-z0-9:20}", "testpypi-{A-Za-z0-9_-:160}", "pypi-{a-z:10}-{a-z:10}-{a-z:10}"),
    ),
    Rule(
        "rubygems-key",
        "RubyGems",
        r"rubygems_[0-9a-f]{32,64}",
        examples=("rubygems_{0-9a-f:48}",),
        near_misses=("rubygems_{0-9a-f:12}",),
    ),
    Rule(
        "crates-token",
        "crates.io",
        r"cio[A-Za-z0-9]{32}",
        before="0-9A-Za-z+/_-",
        check=has_digit_and_letter,
        examples=("cio{A-Za-z0-9:32}",),
        near_misses=("cio{A-Za-z0-9:12}", "pacio{A-Za-z0-9:32}", "cio{a-z:32}"),
    ),
    Rule(
        "nuget-key",
        "NuGet",
        r"oy2[a-z0-9]{43}",
        before=NOT_IN_BASE64,
        examples=("oy2{a-z0-9:43}",),
        near_misses=("oy2{a-z0-9:20}", "toy2{a-z0-9:43}"),
    ),
    Rule(
        "docker-token",
        "Docker Hub",
        r"dckr_[po]at_[A-Za-z0-9_-]{20,80}",
        examples=("dckr_pat_{A-Za-z0-9_-:26}z", "dckr_oat_{A-Za-z0-9_-:31}z"),
        near_misses=("dckr_pat_{A-Za-z0-9:6}",),
    ),
    Rule(
        "docker-config-auth",
        "Docker",
        rf"auth{BETWEEN}(?P<secret>[A-Za-z0-9+/]{{7}}[A-Za-z0-9+/=]{{1,993}})",
        check=is_user_and_password,
        after="0-9A-Za-z+/=",
        examples=(_docker_auth,),
        near_misses=('"auth": "{A-Za-z0-9:20}"', "auth: required"),
    ),
    Rule(
        "artifactory-header",
        "JFrog",
        rf"(?i:X-JFrog-Art-Api){BETWEEN}(?P<secret>[A-Za-z0-9+/=_.-]{{16,200}}[A-Za-z0-9+/=_-])",
        before="",
        examples=("X-JFrog-Art-Api: {A-Za-z0-9:40}", '-H "X-JFrog-Art-Api:{0-9a-f:32}'),
        near_misses=("X-JFrog-Art-Api: <key>",),
    ),
    Rule(
        "bundler-credentials",
        "Bundler",
        r"(?:BUNDLE_[A-Z0-9_]{3,80}[\"']?(?:=|:)\s?|bundle config (?:(?:--global|--local|set) ){0,2}[a-z0-9.-]{4,80} )"
        r"\\{0,7}[\"']?[A-Za-z0-9_.-]{1,60}:(?P<secret>[A-Za-z0-9_.~+/=-]{12,120}[A-Za-z0-9_+/=-])",
        before="",
        after="",
        check=has_digit,
        examples=("BUNDLE_GEMS__ACME__TEST: ci:{A-Za-z0-9:32}", "bundle config gems.acme.test ci:{A-Za-z0-9:32}"),
        near_misses=("BUNDLE_PATH: vendor/bundle", "BUNDLE_GEMS__ACME__TEST=ci:short"),
    ),
    Rule(
        "composer-token",
        "Composer",
        r"(?:github-oauth|gitlab-oauth|gitlab-token|bearer)\\{0,7}\"\s?:\s?\{\s{0,24}(?:\\{1,3}n\s{0,24})?"
        r"\\{0,7}\"[a-z0-9.-]{3,80}\\{0,7}\"\s?:\s?\\{0,7}\"(?P<secret>[A-Za-z0-9_.-]{20,200}[A-Za-z0-9_-])",
        before="",
        examples=('"github-oauth": {"github.com": "{A-Za-z0-9:40}',),
        near_misses=('"github-oauth": {"github.com": "',),
    ),
    Rule(
        "artifactory-api-key",
        "JFrog",
        r"AKCp[A-Za-z0-9]{60,90}",
        before=NOT_IN_BASE64,
        examples=("AKCp{A-Za-z0-9:69}",),
        near_misses=("AKCp{A-Za-z0-9:20}", "AAKCp{A-Za-z0-9:69}"),
    ),
    Rule(
        "artifactory-reference-token",
        "JFrog",
        # base64 of `reftkn:01:`
        r"cmVmd(?:Gtu[A-Za-z0-9]{50,80}|[A-Za-z0-9]{59})",
        before=NOT_IN_BASE64,
        examples=("cmVmdGtu{A-Za-z0-9:56}",),
        near_misses=("cmVmdGtu{A-Za-z0-9:20}",),
    ),
    Rule(
        "clojars-token",
        "Clojars",
        r"CLOJARS_[0-9A-Za-z]{60}",
        examples=("CLOJARS_{0-9a-f:60}",),
        near_misses=("CLOJARS_{0-9a-f:20}", "CLOJARS_PASSWORD"),
    ),
    Rule(
        "packagist-token",
        "Private Packagist",
        r"packagist_[a-z]{3}_[0-9a-f]{28,80}",
        examples=("packagist_ort_{0-9a-f:68}", "packagist_out_{0-9a-f:68}", "packagist_uut_{0-9a-f:68}"),
        near_misses=("packagist_ort_{0-9a-f:20}",),
    ),
    Rule(
        "deno-deploy-token",
        "Deno",
        r"dd[a-z]_[A-Za-z0-9]{36,80}",
        examples=("ddp_{A-Za-z0-9:36}", "ddw_{A-Za-z0-9:36}"),
        near_misses=("ddp_{A-Za-z0-9:12}", "addp_{A-Za-z0-9:36}"),
    ),
    Rule(
        "open-vsx-token",
        "Open VSX",
        rf"ovsx(?:at|p)_(?:{UUID}|[A-Za-z0-9]{{32,64}})",
        examples=(f"ovsxat_{A_UUID}", f"ovsxp_{A_UUID}"),
        near_misses=("ovsxat_{0-9a-f:12}",),
    ),
    Rule(
        "anaconda-token",
        "Anaconda",
        rf"anaconda\.org/t/(?P<secret>[a-z]{{2}}-{UUID})",
        before="",
        examples=(f"https://conda.anaconda.org/t/ab-{A_UUID}",),
        near_misses=("https://conda.anaconda.org/t/ab-{0-9a-f:8}", f"https://conda.anaconda.org/x/ab-{A_UUID}"),
    ),
    by_name("hex-pm-key", "Hex", "hex_api|hexpm|hex_pm", HEX32, AN_MD5, name="KEY"),
    by_name("cloudsmith-key", "Cloudsmith", "cloudsmith", HEX40, A_SHA1),
    by_name("hackage-token", "Hackage", "hackage", "[A-Za-z0-9]{32,64}", "{A-Za-z0-9:44}", name="TOKEN"),
    by_name("chocolatey-key", "Chocolatey", "chocolatey|choco_", UUID, A_UUID),
    by_name("gemfury-token", "Gemfury", "gemfury|fury_", "[A-Za-z0-9]{20,40}", "{A-Za-z0-9:20}", name="TOKEN"),
)
