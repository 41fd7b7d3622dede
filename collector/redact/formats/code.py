"""Code hosting and continuous integration."""

from __future__ import annotations

from random import Random

from collector.redact.formats.by_name import by_name
from collector.redact.formats.checksums import BASE62, crc32_base36, crc32_base62
from collector.redact.formats.shapes import (
    A_SHA1,
    A_UUID,
    HEX40,
    NOT_IN_A_NAME,
    NOT_IN_A_SLUG,
    NOT_IN_BASE64,
    UUID,
    has_digit,
)
from collector.redact.rule import Rule


def _github(chance: Random) -> str:
    body = "".join(chance.choices(BASE62, k=30))
    return f"gh{chance.choice('pousr')}_{body}{crc32_base62(body)}"


def _gitlab_routable(chance: Random) -> str:
    payload = "".join(chance.choices(BASE62, k=44))
    return f"glpat-{payload}.01.18" + crc32_base36(f"glpat-{payload}.01.18")


HOSTING = (
    Rule(
        "github-token",
        "GitHub",
        # Installation tokens may be a JWT behind the prefix: about 520 characters with two dots.
        r"(?:ghs_[0-9]{1,12}_eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{20,1500}\.[A-Za-z0-9_-]{20,800}"
        r"|gh[pousr]_[A-Za-z0-9_]{30,300})",
        trigger=r"(?:ghs_[0-9]{1,12}_eyJ[A-Za-z0-9_-]{10}|gh[pousr]_[A-Za-z0-9_]{30})",
        examples=(
            _github,
            "gho_{A-Za-z0-9:36}",
            "ghs_{0-9:7}_eyJ{A-Za-z0-9_-:60}.eyJ{A-Za-z0-9_-:200}.{A-Za-z0-9_-:86}",
        ),
        near_misses=("ghp_{A-Za-z0-9:20}", "lighp_{A-Za-z0-9:36}", "ghx_{A-Za-z0-9:36}"),
    ),
    Rule(
        "github-fine-grained-token",
        "GitHub",
        r"github_pat_[A-Za-z0-9_]{30,255}",
        examples=("github_pat_{A-Z0-9:22}_{A-Za-z0-9:59}",),
        near_misses=("github_pat_{A-Za-z0-9:12}", "github_patch_{a-z:40}"),
    ),
    by_name("github-hex-token", "GitHub", "github|gh_", HEX40, A_SHA1, name="TOKEN"),
    Rule(
        "github-raw-file-token",
        "GitHub",
        r"raw\.githubusercontent\.com/[^\s?\"'<>]{1,300}\?token=(?P<secret>[A-Z0-9]{24,120})",
        examples=("https://raw.githubusercontent.com/acme/app/main/setup.sh?token=A{A-Z0-9:28}",),
        near_misses=("https://raw.githubusercontent.com/acme/app/main/setup.sh?raw=A{A-Z0-9:28}",),
    ),
    Rule(
        "gitlab-token",
        "GitLab",
        r"gl(?:pat|dt|rtr|rt|cbt|ptt|oas|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_-]{16,400}"
        r"(?:(?:\.[0-9a-z]{2})?\.[0-9a-z]{9})?",
        examples=(
            "glpat-{A-Za-z0-9_-:20}",
            _gitlab_routable,
            "glcbt-64_{A-Za-z0-9:20}",
            "gldt-{A-Za-z0-9:20}",
            "glrt-t1_{A-Za-z0-9:20}",
            "glptt-{0-9a-f:40}",
            "gloas-{0-9a-f:64}",
            "glagent-{A-Za-z0-9_-:50}",
        ),
        near_misses=("glpat-{A-Za-z0-9:12}", "globs-{a-z:24}", "singlpat-{A-Za-z0-9:20}"),
    ),
    Rule(
        "gitlab-runner-registration-token",
        "GitLab",
        r"GR1348941[A-Za-z0-9_-]{20,60}",
        examples=("GR1348941{A-Za-z0-9_-:20}",),
        near_misses=("GR1348941{A-Za-z0-9:8}",),
    ),
    Rule(
        "gitlab-session",
        "GitLab",
        r"_gitlab_session=(?P<secret>[0-9A-Za-z_-]{24,200})",
        before="",
        examples=("_gitlab_session={0-9a-f:32}",),
        near_misses=("_gitlab_session={0-9a-f:8}",),
    ),
    Rule(
        "bitbucket-app-password",
        "Bitbucket",
        r"ATBB[A-Za-z0-9_=-]{24,60}",
        before=NOT_IN_BASE64,
        examples=("ATBB{A-Za-z0-9:24}{A-F0-9:8}",),
        near_misses=("ATBB{A-Za-z0-9:12}",),
    ),
    Rule(
        "bitbucket-access-token",
        "Bitbucket",
        r"ATCTT3xFfG[A-Za-z0-9_=-]{60,400}",
        examples=("ATCTT3xFfGN0{A-Za-z0-9_-:171}={A-F0-9:8}",),
        near_misses=("ATCTT3xFfGN0{A-Za-z0-9:20}",),
    ),
    Rule(
        "bitbucket-data-center-token",
        "Bitbucket",
        r"BBDC-[A-Za-z0-9+/@_-]{40,60}",
        examples=("BBDC-{A-Za-z0-9:44}",),
        near_misses=("BBDC-{A-Za-z0-9:20}",),
    ),
    by_name("gitea-token", "Gitea", "gitea|forgejo|codeberg", HEX40, A_SHA1, name="TOKEN"),
    Rule(
        "sourcegraph-token",
        "Sourcegraph",
        r"(?:sg[pd]_(?:(?:[0-9a-fA-F]{16}|local)_){0,2}[0-9a-fA-F]{40,64}|slk_[0-9a-f]{64})",
        examples=("sgp_{0-9a-f:16}_{0-9a-f:40}", "sgp_{0-9a-f:40}", "sgd_{0-9a-f:64}", "slk_{0-9a-f:64}"),
        near_misses=("sgp_{0-9a-f:16}", "msgp_{0-9a-f:40}"),
    ),
    Rule(
        "gitpod-token",
        "Gitpod",
        r"gitpod_pat_[A-Za-z0-9_-]{20,100}(?:\.[A-Za-z0-9_-]{20,100})?",
        examples=("gitpod_pat_{A-Za-z0-9_-:43}.{A-Za-z0-9_-:40}",),
        near_misses=("gitpod_pat_{a-z:8}",),
    ),
    Rule(
        "jetbrains-token",
        "JetBrains",
        r"perm[:-][A-Za-z0-9+/=]{8,80}\.[A-Za-z0-9+/=-]{8,80}\.[A-Za-z0-9]{20,60}",
        examples=("perm:{A-Za-z0-9:16}.{A-Za-z0-9:12}.{A-Za-z0-9:30}",),
        near_misses=("perm:{A-Za-z0-9:16}.{A-Za-z0-9:4}.{A-Za-z0-9:30}", "perm:{a-z:8}"),
    ),
    Rule(
        "phabricator-token",
        "Phabricator",
        r"(?:api|cli)-[a-z0-9]{28}",
        keywords=("phabricator", "conduit", "arcrc", "phorge"),
        before=NOT_IN_A_SLUG,
        examples=("phabricator.conduit.token: api-{a-z0-9:28}",),
        near_misses=("api-{a-z0-9:28}", "conduit api-{a-z0-9:10}"),
    ),
)

BUILDING = (
    Rule(
        "circleci-token",
        "CircleCI",
        r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{16,30}_[0-9a-fA-F]{40,64}",
        examples=("CCIPAT_{A-Za-z0-9:22}_{0-9a-f:40}", "CCIPRJ_{A-Za-z0-9:22}_{0-9a-f:40}"),
        near_misses=("CCIPAT_{A-Za-z0-9:22}", "ACCIPAT_{A-Za-z0-9:22}_{0-9a-f:40}"),
    ),
    by_name("circleci-hex-token", "CircleCI", "circleci|circle[_-]?ci", HEX40, A_SHA1, name="TOKEN"),
    Rule(
        "buildkite-token",
        "Buildkite",
        r"bk(?:ua|aa|aj|at|ct|ca|pt|pi|pr|ps)_[A-Za-z0-9_-]{32,300}(?:\.[A-Za-z0-9_-]{10,600}\.[A-Za-z0-9_-]{10,300})?",
        examples=("bkua_{0-9a-f:40}", "bkct_{A-Za-z0-9:64}", "bkaj_eyJ{A-Za-z0-9_-:60}"),
        near_misses=("bkua_{0-9a-f:16}", "tbkua_{0-9a-f:40}"),
    ),
    by_name("travis-token", "Travis CI", "travis", "[A-Za-z0-9_-]{20,22}", "{A-Za-z0-9:22}", name="TOKEN"),
    by_name("jenkins-token", "Jenkins", "jenkins", "11[0-9a-f]{32}|[0-9a-f]{32}", "11{0-9a-f:32}", name="TOKEN"),
    by_name("drone-token", "Drone", "drone", "[A-Za-z0-9]{32}", "{A-Za-z0-9:32}", name="TOKEN"),
    by_name("codecov-token", "Codecov", "codecov", UUID, A_UUID, name="TOKEN"),
    by_name("coveralls-token", "Coveralls", "coveralls", "[A-Za-z0-9]{32,37}", "{A-Za-z0-9:33}", name="REPO_TOKEN"),
    Rule(
        "codefresh-token",
        "Codefresh",
        r"[0-9a-f]{24}\.[0-9a-f]{32}",
        keywords=("codefresh", "cf_api_key"),
        examples=("CODEFRESH_API_KEY={0-9a-f:24}.{0-9a-f:32}",),
        near_misses=("{0-9a-f:24}.{0-9a-f:32}",),
    ),
    Rule(
        "appveyor-token",
        "AppVeyor",
        r"v2\.[a-z0-9]{20}",
        keywords=("appveyor",),
        examples=("APPVEYOR_TOKEN=v2.{a-z0-9:20}",),
        near_misses=("v2.{a-z0-9:20}", "appveyor v2.{0-9:2}"),
    ),
    Rule(
        "depot-token",
        "Depot",
        r"depot_(?:org|project|user)_[0-9a-f]{40,128}",
        examples=("depot_org_{0-9a-f:96}",),
        near_misses=("depot_project_{a-z:12}",),
    ),
    Rule(
        "sonar-token",
        "SonarQube",
        r"sq[pua]_[0-9a-fA-F]{40,60}",
        examples=("squ_{0-9a-f:40}", "sqp_{0-9a-f:40}", "sqa_{0-9a-f:40}"),
        near_misses=("squ_{0-9a-f:12}", "asqu_{0-9a-f:40}"),
    ),
    by_name("sonarcloud-token", "SonarCloud", "sonar", HEX40, A_SHA1, telling="token|login|key", name="TOKEN"),
    Rule(
        "snyk-token",
        "Snyk",
        r"snyk_(?:uat|sat)\.[0-9a-f]{8}\.[A-Za-z0-9_-]{20,300}(?:\.[A-Za-z0-9_-]{20,300})?",
        examples=("snyk_uat.{0-9a-f:8}.eyJ{A-Za-z0-9:60}.{A-Za-z0-9_-:43}",),
        near_misses=("snyk_uat.{0-9a-f:8}",),
    ),
    by_name("snyk-api-key", "Snyk", "snyk", UUID, A_UUID, name="TOKEN"),
    Rule(
        "harness-token",
        "Harness",
        r"(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[0-9a-fA-F]{24}\.[A-Za-z0-9]{20}",
        examples=("pat.{A-Za-z0-9_-:22}.{0-9a-f:24}.{A-Za-z0-9:20}",),
        near_misses=("pat.{A-Za-z0-9:22}.{0-9a-f:12}", "cat.{A-Za-z0-9:22}.{0-9a-f:24}.{A-Za-z0-9:20}"),
    ),
    Rule(
        "octopus-api-key",
        "Octopus Deploy",
        r"API-[A-Z0-9]{25,36}",
        check=has_digit,
        before=NOT_IN_A_SLUG,
        examples=("API-{A-Z0-9:31}",),
        near_misses=("API-{A-Z:8}", "MY-API-{A-Z0-9:31}"),
    ),
    Rule(
        "chromatic-token",
        "Chromatic",
        r"chpt_[0-9a-f]{12,64}",
        examples=("chpt_{0-9a-f:15}",),
        near_misses=("chpt_{0-9a-f:6}",),
    ),
    Rule(
        "prefect-api-key",
        "Prefect",
        r"pn[ub]_[A-Za-z0-9]{36,60}",
        examples=("pnu_{A-Za-z0-9:36}", "pnb_{A-Za-z0-9:36}"),
        near_misses=("pnu_{A-Za-z0-9:12}", "spnu_{A-Za-z0-9:36}"),
    ),
    Rule(
        "dbt-cloud-token",
        "dbt",
        r"dbt[cu]_[A-Za-z0-9_=-]{32,80}",
        examples=("dbtc_{A-Za-z0-9_-:40}", "dbtu_{A-Za-z0-9:40}"),
        near_misses=("dbtc_{A-Za-z0-9:10}",),
    ),
    Rule(
        "trigger-dev-key",
        "Trigger.dev",
        r"tr_(?:dev|prod|stg|preview|pat)_[A-Za-z0-9]{20,60}",
        before=NOT_IN_A_NAME,
        examples=("tr_prod_{A-Za-z0-9:24}", "tr_pat_{a-z0-9:40}"),
        near_misses=("tr_dev_{a-z:8}", "str_dev_{A-Za-z0-9:24}"),
    ),
    Rule(
        "inngest-signing-key",
        "Inngest",
        r"signkey-(?:prod|test|branch)-[0-9a-f]{32,128}",
        examples=("signkey-prod-{0-9a-f:64}",),
        near_misses=("signkey-prod-{a-z:8}",),
    ),
)

CODE_RULES = HOSTING + BUILDING
