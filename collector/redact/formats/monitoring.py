"""Monitoring, logs, errors, analytics and feature flags."""

from __future__ import annotations

from random import Random

from collector.redact.formats.by_name import by_name
from collector.redact.formats.checksums import BASE62, crc32_grafana
from collector.redact.formats.shapes import (
    A_SHA1,
    A_SHA256,
    A_UUID,
    AN_MD5,
    HEX32,
    HEX40,
    HEX64,
    NOT_IN_A_NAME,
    NOT_IN_A_SLUG,
    NOT_IN_BASE64,
    UUID,
    is_mixed,
)
from collector.redact.rule import Rule


def _grafana(chance: Random) -> str:
    signed = "glsa_" + "".join(chance.choices(BASE62, k=32))
    return f"{signed}_{crc32_grafana(signed)}"


WATCHING = (
    Rule(
        "new-relic-user-key",
        "New Relic",
        r"NR(?:A[KAL]|RA)-[A-Za-z0-9]{20,42}",
        examples=("NRAK-{A-Z0-9:27}",),
        near_misses=("NRAK-{A-Z0-9:8}", "UNRAK-{A-Z0-9:27}"),
    ),
    Rule(
        "new-relic-insights-key",
        "New Relic",
        r"NRI[IQ]-[A-Za-z0-9_-]{25,40}",
        examples=("NRII-{A-Za-z0-9_-:31}z", "NRIQ-{A-Za-z0-9_-:31}z"),
        near_misses=("NRII-{A-Za-z0-9:8}",),
    ),
    Rule(
        "new-relic-other-key",
        "New Relic",
        r"(?:NRJS-[0-9a-f]{19,40}|NRRA-[0-9a-f]{42}|NRSP-[0-9A-Za-z]{30,60}|NRBR-[0-9a-f]{19,40})",
        examples=("NRJS-{0-9a-f:19}", "NRRA-{0-9a-f:42}"),
        near_misses=("NRJS-{0-9a-f:8}",),
    ),
    Rule(
        "new-relic-license-key",
        "New Relic",
        r"(?:[a-z]{2}[0-9]{2}x{1,2})?[0-9a-fA-F]{30,36}(?:NRAL|FFFFNRAL)",
        examples=("{0-9a-f:36}NRAL", "eu01xx{0-9a-f:30}NRAL"),
        near_misses=("{0-9a-f:12}NRAL", "{0-9a-f:40}"),
    ),
    by_name("datadog-api-key", "Datadog", "datadog|dd_|dd-", HEX32, AN_MD5),
    by_name("datadog-app-key", "Datadog", "datadog|dd_|dd-", HEX40, A_SHA1, name="APP_KEY"),
    Rule(
        "datadog-prefixed-key",
        "Datadog",
        r"dd(?:app|api|pat|sat|oat)_[A-Za-z0-9_]{30,80}",
        examples=("ddapp_{A-Za-z0-9:34}", "ddpat_{A-Za-z0-9:22}_{A-Za-z0-9:34}"),
        near_misses=("ddapp_{a-z:8}", "addapp_{A-Za-z0-9:34}"),
    ),
    Rule(
        "sentry-organization-token",
        "Sentry",
        r"sntrys_eyJ[A-Za-z0-9+/=_-]{60,600}",
        examples=("sntrys_eyJ{A-Za-z0-9:180}=_{A-Za-z0-9+/:42}z",),
        near_misses=("sntrys_eyJ{A-Za-z0-9:10}", "asntrys_eyJ{A-Za-z0-9:200}"),
    ),
    Rule(
        "sentry-user-token",
        "Sentry",
        r"sntry[uai]_[0-9a-f]{64}",
        examples=("sntryu_{0-9a-f:64}", "sntrya_{0-9a-f:64}"),
        near_misses=("sntryu_{0-9a-f:12}",),
    ),
    by_name("sentry-auth-token", "Sentry", "sentry", HEX64, A_SHA256, name="AUTH_TOKEN"),
    Rule(
        "sentry-dsn",
        "Sentry",
        r"https?://(?P<secret>[0-9a-f]{32}(?::[0-9a-f]{32})?)@[a-z0-9.-]{1,80}/[0-9]{1,20}",
        before="",
        examples=("SENTRY_DSN=https://{0-9a-f:32}@o{0-9:6}.ingest.us.sentry.io/{0-9:16}",),
        near_misses=("https://{0-9a-f:12}@o1.ingest.sentry.io/42",),
    ),
    Rule(
        "grafana-cloud-token",
        "Grafana",
        r"glc_[A-Za-z0-9+/]{32,600}={0,2}",
        examples=("glc_eyJ{A-Za-z0-9+/:150}==",),
        near_misses=("glc_eyJ{A-Za-z0-9:8}",),
    ),
    Rule(
        "grafana-service-account-token",
        "Grafana",
        r"gl(?:sa|u|ap)_[A-Za-z0-9]{32,48}_[0-9a-fA-F]{8}",
        examples=(_grafana, "glsa_{A-Za-z0-9:32}_{0-9a-f:8}"),
        near_misses=("glsa_{A-Za-z0-9:32}", "aglsa_{A-Za-z0-9:32}_{0-9a-f:8}"),
    ),
    Rule(
        "grafana-api-key",
        "Grafana",
        # base64 of `{"k":"`
        r"eyJrIjoi[A-Za-z0-9+/]{50,400}={0,2}",
        before=NOT_IN_BASE64,
        examples=("eyJrIjoi{A-Za-z0-9:80}==",),
        near_misses=("eyJrIjoi{A-Za-z0-9:10}",),
    ),
    Rule(
        "honeycomb-key",
        "Honeycomb",
        r"hc[abcx][ilm][ckt]_[a-z0-9]{40,64}",
        examples=("hcaik_{a-z0-9:58}", "hcxik_01{a-z0-9:56}", "hcbik_{a-z0-9:58}", "hcamk_{a-z0-9:58}"),
        near_misses=("hcaik_{a-z0-9:8}",),
    ),
    by_name("honeycomb-named-key", "Honeycomb", "honeycomb|x-honeycomb", "[0-9a-f]{32}|[A-Za-z0-9]{22}", "{0-9a-f:32}"),
    Rule(
        "dynatrace-token",
        "Dynatrace",
        r"dt0[a-zA-Z][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}",
        examples=("dt0c01.{A-Z0-9:24}.{A-Z0-9:64}", "dt0s16.{A-Z0-9:8}.{A-Z0-9:64}"),
        near_misses=("dt0c01.{A-Z0-9:24}.{A-Z0-9:12}", "adt0c01.{A-Z0-9:24}.{A-Z0-9:64}"),
    ),
    Rule(
        "pagerduty-key",
        "PagerDuty",
        r"(?:u\+|y_|pdus\+_[0-9A-Za-z]{1,6}_)[A-Za-z0-9_+-]{18,60}",
        keywords=("pagerduty", "pager_duty", "pd_token", "token token="),
        before=NOT_IN_A_SLUG,
        examples=("PAGERDUTY_TOKEN=u+{A-Za-z0-9_-:17}z", "pagerduty pdus+_0_{A-Za-z0-9:36}"),
        near_misses=("u+{A-Za-z0-9:18}", "pagerduty u+{a-z:4}"),
    ),
    by_name(
        "pagerduty-integration-key",
        "PagerDuty",
        "pagerduty|pager_duty|pd_",
        "[0-9a-fA-F]{32}|[A-Za-z0-9_+-]{20}",
        AN_MD5,
        telling="key|token|routing_?key",
        name="ROUTING_KEY",
    ),
    by_name("splunk-hec-token", "Splunk", "splunk|hec_", UUID, A_UUID, name="HEC_TOKEN"),
    Rule(
        "splunk-header",
        "Splunk",
        rf"Splunk (?P<secret>{UUID})",
        examples=(f"Authorization: Splunk {A_UUID}",),
        near_misses=("Splunk {0-9a-f:8}", f"Splunk: {A_UUID}"),
    ),
    by_name(
        "better-stack-token",
        "Better Stack",
        "logtail|betterstack|better_stack|betteruptime",
        "[A-Za-z0-9]{24}",
        "{A-Za-z0-9:24}",
        name="SOURCE_TOKEN",
    ),
    by_name("rollbar-token", "Rollbar", "rollbar", HEX32, AN_MD5, name="ACCESS_TOKEN"),
    by_name("bugsnag-key", "Bugsnag", "bugsnag", HEX32, AN_MD5),
    by_name("loggly-token", "Loggly", "loggly", UUID, A_UUID, name="TOKEN"),
    by_name("opsgenie-key", "Opsgenie", "opsgenie|geniekey|genie", UUID, A_UUID),
    by_name("sumo-logic-key", "Sumo Logic", "sumo", "[A-Za-z0-9]{64}", "{A-Za-z0-9:64}", name="ACCESS_KEY"),
    Rule(
        "sumo-logic-access-id",
        "Sumo Logic",
        r"su[A-Za-z0-9]{12}",
        keywords=("sumo",),
        check=is_mixed,
        examples=("SUMO_ACCESS_ID=su{A-Za-z0-9:11}7",),
        near_misses=("su{A-Za-z0-9:12}", "sumo su{a-z:12}"),
    ),
    Rule(
        "coralogix-key",
        "Coralogix",
        r"cx[tu]p_[A-Za-z0-9]{30,48}",
        examples=("cxtp_{A-Za-z0-9:30}", "cxup_{A-Za-z0-9:30}"),
        near_misses=("cxtp_{A-Za-z0-9:8}",),
    ),
    Rule(
        "axiom-token",
        "Axiom",
        rf"xa[ap]t-{UUID}",
        examples=(f"xaat-{A_UUID}", f"xapt-{A_UUID}"),
        near_misses=("xaat-{0-9a-f:8}",),
    ),
    Rule(
        "uptimerobot-key",
        "UptimeRobot",
        r"(?:u[0-9]{5,9}|m[0-9]{6,12})-[0-9a-f]{24}",
        trigger="[um][0-9]{5}",  # the scanner finds it faster than the whole
        examples=("u{0-9:7}-{0-9a-f:24}", "m{0-9:9}-{0-9a-f:24}"),
        near_misses=("u{0-9:7}-{0-9a-f:8}",),
    ),
    Rule(
        "checkly-key",
        "Checkly",
        r"cu_[0-9a-f]{32}",
        before=NOT_IN_A_NAME,
        examples=("cu_{0-9a-f:32}",),
        near_misses=("cu_{0-9a-f:8}", "acu_{0-9a-f:32}"),
    ),
)

COUNTING = (
    Rule(
        "segment-public-api-token",
        "Segment",
        r"sgp_[A-Za-z0-9]{64}",
        check=is_mixed,
        examples=("sgp_{A-Za-z0-9:64}",),
        near_misses=("sgp_{A-Za-z0-9:20}",),
    ),
    by_name(
        "segment-write-key",
        "Segment",
        "segment",
        "[A-Za-z0-9]{32}",
        "{A-Za-z0-9:32}",
        telling="write_?key|key|token",
        name="WRITE_KEY",
    ),
    Rule(
        "posthog-key",
        "PostHog",
        r"ph[xsra]_[A-Za-z0-9_-]{40,64}",
        examples=("phx_{A-Za-z0-9:43}", "phs_{A-Za-z0-9:43}"),
        near_misses=("phx_{A-Za-z0-9:8}", "phc_{A-Za-z0-9:43}"),
    ),
    by_name("amplitude-key", "Amplitude", "amplitude", HEX32, AN_MD5, name="SECRET_KEY"),
    by_name("mixpanel-secret", "Mixpanel", "mixpanel", HEX32, AN_MD5, name="API_SECRET"),
    Rule(
        "launchdarkly-key",
        "LaunchDarkly",
        r"(?:api|sdk|rel|mob)-[0-9A-Za-z]{8}-(?:[0-9A-Za-z]{4}-){3}[0-9A-Za-z]{12}",
        before=NOT_IN_A_SLUG,
        examples=(f"api-{A_UUID}", f"sdk-{A_UUID}"),
        near_misses=("sdk-{0-9a-f:8}", f"my-sdk-{A_UUID}", f"job-{A_UUID}"),
    ),
    Rule(
        "statsig-key",
        "Statsig",
        r"(?:secret|console)-[A-Za-z0-9]{40,48}",
        before=NOT_IN_A_SLUG,
        check=is_mixed,
        examples=("secret-{A-Za-z0-9:43}", "console-{A-Za-z0-9:43}"),
        near_misses=("secret-{a-z:12}", "client-{A-Za-z0-9:43}", "my-secret-{A-Za-z0-9:43}"),
    ),
    by_name("fullstory-key", "FullStory", "fullstory", "[A-Za-z0-9+/=.!-]{24,80}[A-Za-z0-9+/=-]", "na1.{A-Za-z0-9:40}"),
)

MONITORING_RULES = WATCHING + COUNTING
