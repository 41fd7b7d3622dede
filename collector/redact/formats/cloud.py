"""The three large clouds."""

from __future__ import annotations

from collector.redact.formats.by_name import BETWEEN, by_name
from collector.redact.formats.shapes import A_UUID, IN_URL, NOT_IN_BASE64, UUID, has_digit, is_mixed, whole
from collector.redact.rule import Rule

BASE64 = "[A-Za-z0-9+/]"
AFTER_BASE64 = "0-9A-Za-z+/="


def is_access_key(secret: str) -> bool:
    """No word: exactly as long as a key id (one in 28 of those has no digit), or with a digit."""
    return len(secret) == 20 or has_digit(secret)


AMAZON = (
    Rule(
        "aws-access-key-id",
        "Amazon Web Services",
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,24}",
        check=is_access_key,
        examples=("AKIA{A-Z2-7:16}", "ASIA{A-Z2-7:16}", "ABIA{A-Z2-7:16}", "ACCA{A-Z2-7:16}"),
        near_misses=("AKIA{A-Z2-7:8}", "AKIA{a-z:16}", "ZAKIA{A-Z2-7:16}", "AIDA{A-Z2-7:17}"),
    ),
    Rule(
        "aws-secret-access-key",
        "Amazon Web Services",
        r"(?i:aws[0-9a-z_. -]{0,24}(?:secret|key|sk)|secret[_.-]?access[_.-]?key|secret[_.-]?key)"
        rf"{BETWEEN}(?P<secret>{BASE64}{{40}})",
        check=is_mixed,
        before="",
        after=AFTER_BASE64,
        examples=(
            "aws_secret_access_key = {A-Za-z0-9+/:40}",
            "AWS_SECRET_ACCESS_KEY={A-Za-z0-9+/:40}",
            '"SecretAccessKey": "{A-Za-z0-9+/:40}',
            "awsSecretKey: '{A-Za-z0-9+/:40}",
        ),
        near_misses=("{A-Za-z0-9+/:40}", "sha1: {0-9a-f:40}", "aws_secret_access_key = {A-Za-z0-9+/:16}"),
    ),
    Rule(
        "aws-key-pair",
        "Amazon Web Services",
        # As AWS's own CSV and many tools write it: the id, then the secret.
        r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s:,;|\"'\\]{1,8}(?P<secret>[A-Za-z0-9+/]{40})",
        after=AFTER_BASE64,
        check=is_mixed,
        examples=("AKIA{A-Z2-7:16},{A-Za-z0-9+/:40}", "AKIA{A-Z2-7:16}:{A-Za-z0-9+/:40}"),
        near_misses=("AKIA{A-Z2-7:16},{A-Za-z0-9+/:20}", "AIDA{A-Z2-7:17},{A-Za-z0-9+/:40}"),
    ),
    Rule(
        "aws-session-token",
        "Amazon Web Services",
        # The starts of base64 of STS's own headers; newer tokens start with the region's `origin_ec`.
        rf"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz|FQoDYXdz|AQoDYXdz){IN_URL}{{60,1300}}",
        before=NOT_IN_BASE64,
        after="",
        examples=("IQoJb3JpZ2luX2VjE{A-Za-z0-9+/:300}", "FwoGZXIvYXdzE{A-Za-z0-9+/:300}=="),
        near_misses=("IQoJb3JpZ2lu{A-Za-z0-9:10}",),
    ),
    Rule(
        "aws-bedrock-key",
        "Amazon Web Services",
        r"(?:ABSK[A-Za-z0-9+/]{100,400}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{60,2000})",
        before=NOT_IN_BASE64,
        examples=(
            "ABSKQmVkcm9ja0FQSUtleS{A-Za-z0-9+/:109}=",
            "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3M{A-Za-z0-9+/:200}",
        ),
        near_misses=("bedrock-api-key-{a-z:8}",),
    ),
    Rule(
        "aws-appsync-key",
        "Amazon Web Services",
        r"da2-[a-z0-9]{26}",
        examples=("da2-{a-z0-9:26}",),
        near_misses=("da2-{a-z0-9:12}", "nvda2-{a-z0-9:26}"),
    ),
    Rule(
        "aws-marketplace-key",
        "Amazon Marketplace",
        rf"amzn\.mws\.{UUID}",
        examples=(f"amzn.mws.{A_UUID}",),
        near_misses=("amzn.mws.{0-9a-f:8}",),
    ),
    Rule(
        "amazon-client-secret",
        "Login with Amazon",
        r"amzn1\.oa2-cs\.v1\.[0-9a-f]{64}",
        examples=("amzn1.oa2-cs.v1.{0-9a-f:64}",),
        near_misses=("amzn1.application-oa2-client.{0-9a-f:32}",),
    ),
    Rule(
        "amazon-login-token",
        "Login with Amazon",
        r"Atz[ar]\|[A-Za-z0-9_-]{60,1000}",
        examples=("Atza|{A-Za-z0-9_-:240}", "Atzr|{A-Za-z0-9_-:240}"),
        near_misses=("Atza|{A-Za-z0-9:10}",),
    ),
    Rule(
        "aws-url-signature",
        "Amazon Web Services",
        r"X-Amz-Signature=(?P<secret>[0-9a-f]{64})",
        before="",
        examples=("X-Amz-SignedHeaders=host&X-Amz-Signature={0-9a-f:64}",),
        near_misses=("X-Amz-Signature={0-9a-f:16}", "X-Amz-Content-Sha256={0-9a-f:64}"),
    ),
)

GOOGLE = (
    Rule(
        "google-api-key",
        "Google",
        r"AIza[0-9A-Za-z_-]{30,60}",
        before=NOT_IN_BASE64,
        examples=("AIza{0-9A-Za-z_-:35}",),
        near_misses=("AIza{0-9A-Za-z:20}", "MAIza{0-9A-Za-z_-:35}"),
    ),
    Rule(
        "google-auth-key",
        "Google",
        r"AQ\.A[A-Za-z0-9_-]{40,120}",
        examples=("AQ.Ab8RN6{A-Za-z0-9_-:44}",),
        near_misses=("AQ.Ab{A-Za-z0-9:10}", "FAQ.Ab8RN6{A-Za-z0-9_-:44}"),
    ),
    Rule(
        "google-oauth-token",
        "Google",
        r"ya29\.[0-9A-Za-z_-]{1,16}\.?[0-9A-Za-z_-]{20,1500}",
        examples=("ya29.a0{0-9A-Za-z_-:180}", "ya29.c.{0-9A-Za-z_-:300}"),
        near_misses=("ya29.{0-9A-Za-z:8}", "maya29.a0{0-9A-Za-z_-:180}"),
    ),
    Rule(
        "google-refresh-token",
        "Google",
        r"1//0[0-9A-Za-z_-]{40,300}",
        examples=("1//0{0-9A-Za-z_-:100}",),
        near_misses=("1//0{0-9A-Za-z:10}", "11//0{0-9A-Za-z_-:100}"),
    ),
    Rule(
        "google-authorization-code",
        "Google",
        r"4/[01]A[0-9A-Za-z_-]{40,200}",
        before="0-9A-Za-z/",
        examples=("4/0A{0-9A-Za-z_-:70}",),
        near_misses=("4/0A{0-9A-Za-z:10}", "src/4/0A{0-9A-Za-z_-:70}"),
    ),
    Rule(
        "google-client-secret",
        "Google",
        r"GOCSPX-[A-Za-z0-9_-]{20,60}",
        examples=("GOCSPX-{A-Za-z0-9_-:28}",),
        near_misses=("GOCSPX-{A-Za-z0-9:10}",),
    ),
    Rule(
        "firebase-messaging-key",
        "Google",
        r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{130,200}",
        examples=("AAAA{A-Za-z0-9_-:7}:APA91b{A-Za-z0-9_-:134}",),
        near_misses=("AAAA{A-Za-z0-9:7}:{A-Za-z0-9:20}",),
    ),
    Rule(
        "google-storage-key-id",
        "Google",
        r"GOOG(?:1[A-Z0-9]{56,61}|[A-Z0-9]{16,30})",
        check=has_digit,
        examples=("GOOG1E{A-Z0-9:55}", "GOOG{A-Z0-9:20}"),
        near_misses=("GOOG{A-Z:8}", "AGOOG1E{A-Z0-9:55}"),
    ),
    by_name(
        "recaptcha-secret",
        "Google",
        "recaptcha",
        "6L[0-9A-Za-z_-]{38}",
        "6L{0-9A-Za-z:38}",
        telling="secret|secret[_-]?key|private[_-]?key",
        name="SECRET",
    ),
)

MICROSOFT = (
    Rule(
        "azure-account-key",
        "Azure Storage, Cosmos DB",
        rf"(?i:account_?key){BETWEEN}(?P<secret>{BASE64}{{86}}==)",
        before="",
        after=AFTER_BASE64,
        examples=("AccountName=acme;AccountKey={A-Za-z0-9+/:86}==", "AZURE_STORAGE_ACCOUNT_KEY={A-Za-z0-9+/:86}=="),
        near_misses=("AccountKey={A-Za-z0-9+/:20}==", "sha512-{A-Za-z0-9+/:86}=="),
    ),
    Rule(
        "azure-shared-access-key",
        "Azure Service Bus, Event Hubs, IoT",
        rf"(?i:shared_?access_?key){BETWEEN}(?P<secret>{BASE64}{{43}}=)",
        before="",
        after=AFTER_BASE64,
        examples=("SharedAccessKeyName=Root;SharedAccessKey={A-Za-z0-9+/:43}=",),
        near_misses=("SharedAccessKeyName={A-Za-z:12}", "sha256-{A-Za-z0-9+/:43}="),
    ),
    Rule(
        "azure-sas-signature",
        "Azure",
        rf"[?&;]sig=(?P<secret>{IN_URL}{{40,100}})",
        before="",
        examples=(
            "?sv=2022-11-02&sr=b&sig={A-Za-z0-9:20}%2B{A-Za-z0-9:22}%3D",
            "&sig={A-Za-z0-9+/:43}=",
            "?api-version=2016-10-01&sp=%2Ftriggers&sig={A-Za-z0-9_-:43}",
        ),
        near_misses=("?sig={A-Za-z0-9:12}", "?signature-version={A-Za-z0-9:43}"),
    ),
    Rule(
        "azure-client-secret",
        "Microsoft Entra ID",
        r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,33}[A-Za-z0-9_~-]",
        trigger=r"[0-9]Q~[A-Za-z0-9_~.-]{30}",
        reach_back=36,
        examples=("{A-Za-z0-9:3}8Q~{A-Za-z0-9_~.-:33}z", "{A-Za-z0-9:3}7Q~{A-Za-z0-9:31}"),
        near_misses=("{A-Za-z0-9:3}8Q~{A-Za-z0-9:10}", "{A-Za-z0-9:3}8Q-{A-Za-z0-9:34}"),
    ),
    Rule(
        "azure-annotated-key",
        "Azure, Azure DevOps",
        # The second generation of Microsoft's identifiable keys: 84 characters, a fixed mark after the random part.
        r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{20,32}(?:==)?",
        trigger="JQQJ9[9D][A-Za-z0-9]{20}",
        reach_back=78,
        before=NOT_IN_BASE64,
        locate=whole,
        examples=("{A-Za-z0-9:52}JQQJ99BAACAAAAAAAAAAAAASAZDO{A-Za-z0-9:4}", "{A-Za-z0-9:52}JQQJ9D{A-Za-z0-9:26}=="),
        near_misses=("{A-Za-z0-9:20}JQQJ99{A-Za-z0-9:26}", "{A-Za-z0-9:52}JQQJ88{A-Za-z0-9:26}"),
    ),
    Rule(
        "azure-identifiable-key",
        "Azure",
        # The first generation: storage, functions, search, cache, Cosmos, bus and hubs sign the end of their keys.
        r"(?:[A-Za-z0-9+/]{76}(?:\+ASt|\+ABa|\+AMC|\+ACDb|ACDb|APIM)[A-Za-z0-9+/]{5,6}=="
        r"|[A-Za-z0-9+/]{33}(?:\+ASb|\+AEh|\+ARm|AIoT|AZEG)[A-Za-z0-9+/]{5,6}="
        r"|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5,6}==|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}|[A-Za-z0-9+/]{33}AzCa[A-Za-z0-9+/]{6}="
        r"|[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9+/]{6})",
        trigger=(
            r"(?:(?:\+ASt|\+ABa|\+AMC|\+ACDb|ACDb|APIM)[A-Za-z0-9+/]{5,6}=="
            r"|(?:\+ASb|\+AEh|\+ARm|AIoT|AZEG)[A-Za-z0-9+/]{5,6}=|AzFu[A-Za-z0-9_-]{5,6}==|AzSe[A-Za-z0-9]{6}"
            r"|AzCa[A-Za-z0-9+/]{6}=|\+ACR[A-Za-z0-9+/]{6})"
        ),
        reach_back=92,
        before="0-9A-Za-z+/_-",
        after="0-9A-Za-z+/=_-",
        examples=(
            "{A-Za-z0-9:76}+ASt{A-Za-z0-9:6}==",
            "{A-Za-z0-9:76}APIM{A-Za-z0-9:6}==",
            "{A-Za-z0-9:33}AZEG{A-Za-z0-9:6}=",
            "{A-Za-z0-9:42}+ACR{A-Za-z0-9:6}",
            "{A-Za-z0-9_-:44}AzFu{A-Za-z0-9:6}==",
            "{A-Za-z0-9:42}AzSe{A-Za-z0-9:6}",
            "{A-Za-z0-9:33}AzCa{A-Za-z0-9:6}=",
            "{A-Za-z0-9:33}+ASb{A-Za-z0-9:6}=",
        ),
        near_misses=("{A-Za-z0-9:42}AzSe", "{A-Za-z0-9:30}AzCa{A-Za-z0-9:6}="),
    ),
    by_name(
        "azure-devops-token",
        "Azure DevOps",
        "azure[_-]?devops|azdo|vsts|ado_|system_access",
        "[a-z2-7]{52}",
        "{a-z2-7:52}",
        name="PAT",
    ),
    Rule(
        "azure-function-code",
        "Azure Functions",
        r"[?&]code=(?P<secret>[A-Za-z0-9/_%+-]{50,90}={1,2})",
        before="",
        examples=("https://acme.azurewebsites.net/api/run?code={A-Za-z0-9/:54}==",),
        near_misses=("?code={A-Za-z0-9:20}==",),
    ),
    Rule(
        "azure-app-configuration",
        "Azure",
        r"azconfig\.io;Id=[^;\s]{4,80};Secret=(?P<secret>[A-Za-z0-9+/]{40,90}={0,2})",
        before="",
        examples=("Endpoint=https://acme.azconfig.io;Id=ab-l1:{A-Za-z0-9:20};Secret={A-Za-z0-9+/:43}=",),
        near_misses=("Endpoint=https://acme.azconfig.io;Id=ab",),
    ),
    Rule(
        "azure-refresh-token",
        "Microsoft Entra ID",
        r"[01]\.A[A-Za-z0-9_-]{30,120}\.[A-Za-z0-9_-]{100,2000}",
        before="0-9A-Za-z_.",
        examples=("0.AX{A-Za-z0-9_-:70}.AgABAAEAAAD{A-Za-z0-9_-:400}",),
        near_misses=("0.AX{A-Za-z0-9:20}.{A-Za-z0-9:20}",),
    ),
)

CLOUD_RULES = AMAZON + GOOGLE + MICROSOFT
