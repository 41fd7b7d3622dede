"""Chat, bots, and the webhooks that speak into them."""

from __future__ import annotations

from collector.redact.formats.by_name import by_name
from collector.redact.formats.shapes import (
    A_UUID,
    AN_MD5,
    HEX32,
    IN_URL,
    NOT_IN_A_NAME,
    NOT_IN_BASE64,
    UUID,
    has_digit,
    is_mixed,
)
from collector.redact.rule import Rule

_THREE_DIGITS = "[MNO][DTjz][AEIMQUYcgk][w-z0-5]"  # in base64
_SOME_DIGITS = "{MNO:1}{DTjz:1}{AEIMQUYcgk:1}{w-z0-5:1}"

CHAT = (
    Rule(
        "slack-token",
        "Slack",
        r"(?:(?:xox[a-z](?:\.xox[a-z])?|xapp|xwfp)-[A-Za-z0-9-]{20,300}|xox[ar]-[0-9]-[A-Za-z0-9]{8,48})",
        check=has_digit,
        examples=(
            "xoxb-{0-9:12}-{0-9:13}-{A-Za-z0-9:24}",
            "xoxp-{0-9:12}-{0-9:12}-{0-9:12}-{0-9a-f:32}",
            "xapp-1-A{A-Z0-9:10}-{0-9:13}-{0-9a-f:64}",
            "xoxe.xoxp-1-{A-Za-z0-9:160}",
            "xoxe-1-{A-Za-z0-9:140}",
            "xoxr-6-{A-Za-z0-9:12}",
        ),
        near_misses=("xoxb-{0-9:4}", "foxoxb-{0-9:12}-{A-Za-z0-9:24}", "xoxb-your-own-bot-token-goes-here"),
    ),
    Rule(
        "slack-cookie",
        "Slack",
        rf"xoxd-{IN_URL}{{40,400}}",
        examples=("xoxd-{A-Za-z0-9:60}%2B{A-Za-z0-9:60}%3D",),
        near_misses=("xoxd-{A-Za-z0-9:10}",),
    ),
    Rule(
        "slack-webhook",
        "Slack",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{24,120})",
        before="",
        examples=(
            "https://hooks.slack.com/services/T{A-Z0-9:8}/B{A-Z0-9:10}/{A-Za-z0-9:24}",
            "https://hooks.slack.com/workflows/T{A-Z0-9:8}/A{A-Z0-9:10}/{0-9:18}/{A-Za-z0-9:24}",
        ),
        near_misses=("https://hooks.slack.com/services/", "https://api.slack.com/services/T{A-Z0-9:8}/B{A-Z0-9:8}"),
    ),
    by_name("slack-signing-secret", "Slack", "slack", HEX32, AN_MD5, name="SIGNING_SECRET"),
    Rule(
        "discord-bot-token",
        "Discord",
        # base64 of the bot's id, of a time, and a signature; the id is made of digits, so its base64 is of few letters
        rf"{_THREE_DIGITS}[A-Za-z0-9_-]{{20,24}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,45}}",
        trigger=rf"{_THREE_DIGITS}[A-Za-z0-9_-]{{4}}",
        before="0-9A-Za-z_.",
        check=is_mixed,
        examples=(
            f"{_SOME_DIGITS}{{A-Za-z0-9:20}}.{{A-Za-z0-9_-:6}}.{{A-Za-z0-9_-:38}}",
            f"{_SOME_DIGITS}{{A-Za-z0-9:20}}.{{A-Za-z0-9_-:6}}.{{A-Za-z0-9_-:27}}",
        ),
        near_misses=(
            f"{_SOME_DIGITS}{{A-Za-z0-9:20}}.{{A-Za-z0-9:6}}.{{A-Za-z0-9:10}}",
            "A{A-Za-z0-9:23}.{A-Za-z0-9:6}.{A-Za-z0-9:38}",
        ),
    ),
    Rule(
        "discord-token-by-name",
        "Discord",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}",
        keywords=("discord",),
        before="0-9A-Za-z_.",
        check=is_mixed,
        examples=("discord M{A-Za-z0-9:23}.{A-Za-z0-9_-:6}.{A-Za-z0-9_-:38}",),
        near_misses=("discord M{A-Za-z0-9:10}.{A-Za-z0-9:6}.{A-Za-z0-9:38}",),
    ),
    Rule(
        "discord-user-token",
        "Discord",
        r"mfa\.[A-Za-z0-9_-]{80,100}",
        before="0-9A-Za-z_.",
        examples=("mfa.{A-Za-z0-9_-:84}",),
        near_misses=("mfa.{a-z:12}",),
    ),
    Rule(
        "discord-webhook",
        "Discord",
        r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{16,20}/(?P<secret>[A-Za-z0-9_-]{50,100})",
        before="",
        examples=("https://discord.com/api/webhooks/{0-9:18}/{A-Za-z0-9_-:68}",),
        near_misses=("https://discord.com/api/webhooks/{0-9:18}",),
    ),
    by_name(
        "discord-client-secret", "Discord", "discord", "[A-Za-z0-9_-]{32}", "{A-Za-z0-9_-:31}z", name="CLIENT_SECRET"
    ),
    Rule(
        "telegram-bot-token",
        "Telegram",
        r"(?:bot)?(?P<secret>[0-9]{6,12}:A[A-Za-z0-9_-]{24,48})",
        check=is_mixed,
        examples=("{1-9:1}{0-9:9}:AA{A-Za-z0-9_-:33}", "https://api.telegram.org/bot{1-9:1}{0-9:8}:AA{A-Za-z0-9_-:33}"),
        near_misses=("{0-9:10}:AA{A-Za-z0-9:10}", "{0-9:4}:AA{A-Za-z0-9:33}"),
    ),
    by_name(
        "telegram-named-token",
        "Telegram",
        "telegram|tg_bot|tgram",
        "[0-9]{6,12}:[A-Za-z0-9_-]{35}",
        "{1-9:1}{0-9:8}:{A-Za-z0-9:35}",
        name="BOT_TOKEN",
    ),
    by_name(
        "telegram-app-hash", "Telegram", "telegram|tg_|api", HEX32, AN_MD5, telling="api[_-]?hash|hash", name="API_HASH"
    ),
    Rule(
        "teams-webhook",
        "Microsoft Teams",
        rf"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/"
        rf"(?P<secret>{UUID}@{UUID}/IncomingWebhook/[0-9A-Za-z]{{32}}/{UUID}(?:/[A-Za-z0-9_-]{{20,80}})?)",
        before="",
        examples=(f"https://acme.webhook.office.com/webhookb2/{A_UUID}@{A_UUID}/IncomingWebhook/{AN_MD5}/{A_UUID}",),
        near_misses=(f"https://acme.webhook.office.com/webhookb2/{A_UUID}",),
    ),
    Rule(
        "webex-token",
        "Webex",
        rf"[A-Za-z0-9_-]{{60,70}}_[A-Z0-9]{{2,4}}_{UUID}",
        keywords=("webex", "ciscospark", "bearer"),
        examples=(f"WEBEX_BOT_TOKEN={{A-Za-z0-9:64}}_PF84_{A_UUID}",),
        near_misses=(f"webex {{A-Za-z0-9:20}}_PF84_{A_UUID}", f"{{A-Za-z0-9:64}}_PF84_{A_UUID}"),
    ),
    by_name("mattermost-token", "Mattermost", "mattermost|mm_", "[a-z0-9]{26}", "{a-z0-9:26}", name="TOKEN"),
    by_name(
        "zoom-secret",
        "Zoom",
        "zoom_|zoom-",
        "[A-Za-z0-9]{32}",
        "{A-Za-z0-9:32}",
        telling="secret|token|key",
        name="CLIENT_SECRET",
    ),
    by_name(
        "line-channel-secret",
        "LINE",
        "line_|channel",
        HEX32,
        AN_MD5,
        telling="channel[_-]?secret|secret",
        name="CHANNEL_SECRET",
    ),
    Rule(
        "matrix-token",
        "Matrix",
        r"(?:syt_[A-Za-z0-9+/=]{2,100}_[A-Za-z]{20}_[A-Za-z0-9]{6}|mct_[A-Za-z0-9]{30}_[A-Za-z0-9]{6})",
        examples=("syt_{A-Za-z0-9:12}_{A-Za-z:20}_{A-Za-z0-9:6}", "mct_{A-Za-z0-9:30}_{A-Za-z0-9:6}"),
        near_misses=("syt_{A-Za-z0-9:12}_{A-Za-z:4}",),
    ),
)

HOOKS = (
    Rule(
        "google-chat-webhook",
        "Google Chat",
        r"chat\.googleapis\.com/v1/spaces/[^\s\"'\\]{4,160}[?&]token="
        rf"(?P<secret>{IN_URL}{{30,120}})",
        before="",
        examples=("https://chat.googleapis.com/v1/spaces/AAAA{A-Za-z0-9:6}/messages?key=x&token={A-Za-z0-9_-:43}",),
        near_misses=("https://chat.googleapis.com/v1/spaces/AAAA{A-Za-z0-9:6}/messages",),
    ),
    Rule(
        "feishu-webhook",
        "Feishu, Lark",
        rf"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(?P<secret>{UUID}|[A-Za-z0-9_-]{{20,60}})",
        before="",
        examples=(f"https://open.feishu.cn/open-apis/bot/v2/hook/{A_UUID}",),
        near_misses=("https://open.feishu.cn/open-apis/bot/v2/hook/",),
    ),
    Rule(
        "dingtalk-webhook",
        "DingTalk",
        r"oapi\.dingtalk\.com/robot/send\?access_token=(?P<secret>[0-9a-f]{64})",
        before="",
        examples=("https://oapi.dingtalk.com/robot/send?access_token={0-9a-f:64}",),
        near_misses=("https://oapi.dingtalk.com/robot/send",),
    ),
    Rule(
        "wecom-webhook",
        "WeCom",
        rf"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<secret>{UUID})",
        before="",
        examples=(f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={A_UUID}",),
        near_misses=("https://qyapi.weixin.qq.com/cgi-bin/webhook/send",),
    ),
    Rule(
        "zapier-webhook",
        "Zapier",
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/(?P<secret>[0-9]{4,12}/[A-Za-z0-9]{5,40}|[A-Za-z0-9]{16})",
        before="",
        examples=("https://hooks.zapier.com/hooks/catch/{0-9:7}/{a-z0-9:7}",),
        near_misses=("https://hooks.zapier.com/hooks/",),
    ),
    Rule(
        "make-webhook",
        "Make",
        r"hook\.(?:[a-z]{2}[0-9]\.)?(?:make|integromat)\.com/(?P<secret>[a-z0-9]{28,40})",
        before="",
        examples=("https://hook.eu1.make.com/{a-z0-9:32}",),
        near_misses=("https://hook.eu1.make.com/help",),
    ),
    Rule(
        "ifttt-webhook",
        "IFTTT",
        r"maker\.ifttt\.com/(?:trigger/[A-Za-z0-9_-]{1,60}/(?:json/)?with/key|use)/(?P<secret>[A-Za-z0-9_-]{18,60})",
        before="",
        examples=("https://maker.ifttt.com/trigger/deployed/with/key/{A-Za-z0-9_-:21}z",),
        near_misses=("https://maker.ifttt.com/trigger/deployed/with/key/",),
    ),
    Rule(
        "pushbullet-token",
        "Pushbullet",
        r"o\.[A-Za-z0-9]{32}",
        before="0-9A-Za-z_.$)\\]",
        check=is_mixed,
        examples=("o.{A-Za-z0-9:32}",),
        near_misses=("o.{A-Za-z0-9:12}", "foo.{A-Za-z0-9:32}", "o.{a-z:32}"),
    ),
    by_name(
        "pushover-token",
        "Pushover",
        "pushover",
        "[a-z0-9]{30}",
        "{a-z0-9:30}",
        telling="token|key|user",
        name="APP_TOKEN",
    ),
    Rule(
        "ntfy-token",
        "ntfy",
        r"tk_[a-z0-9]{29}",
        before=NOT_IN_A_NAME,
        check=has_digit,
        examples=("tk_{a-z0-9:29}",),
        near_misses=("tk_{a-z0-9:8}", "my_tk_{a-z0-9:29}"),
    ),
    Rule(
        "intercom-token",
        "Intercom",
        # base64 of `tok:`
        r"dG9rO[A-Za-z0-9+/]{40,120}={0,2}",
        before=NOT_IN_BASE64,
        examples=("dG9rO{A-Za-z0-9:54}=",),
        near_misses=("dG9rO{A-Za-z0-9:10}",),
    ),
)

CHAT_RULES = CHAT + HOOKS
