"""What people run themselves: clusters, panels, media, and the frameworks of their applications."""

from __future__ import annotations

from collector.redact.formats.by_name import by_name
from collector.redact.formats.shapes import A_UUID, AN_MD5, HEX32, NOT_IN_A_NAME, UUID, has_digit, is_mixed
from collector.redact.rule import Rule

SELF_HOSTED_RULES = (
    Rule(
        "openshift-token",
        "OpenShift",
        r"sha256~[A-Za-z0-9_-]{40,60}",
        examples=("sha256~{A-Za-z0-9_-:42}z",),
        near_misses=("sha256~{A-Za-z0-9:8}", "sha256:{0-9a-f:64}"),
    ),
    Rule(
        "rancher-token",
        "Rancher",
        r"(?:token-[a-z0-9]{5}|kubeconfig-[a-z0-9-]{5,40}):[a-z0-9]{54}",
        examples=("token-{a-z0-9:5}:{a-z0-9:54}", "kubeconfig-user-{a-z0-9:5}:{a-z0-9:54}"),
        near_misses=("token-{a-z0-9:5}:{a-z0-9:8}",),
    ),
    Rule(
        "kubernetes-bootstrap-token",
        "Kubernetes",
        r"[a-z0-9]{6}\.[a-z0-9]{16}",
        keywords=("kubeadm", "bootstrap", "--token "),
        before="0-9A-Za-z_.-",
        after="0-9A-Za-z_(-",
        check=has_digit,
        examples=("kubeadm join 10.0.0.1:6443 --token {a-z0-9:6}.{a-z0-9:16}",),
        near_misses=("{a-z0-9:6}.{a-z0-9:16}", "kubeadm {a-z0-9:6}.{a-z0-9:6}"),
    ),
    Rule(
        "k3s-token",
        "K3s",
        r"K10[0-9a-f]{64}::[a-z]{2,20}:[0-9A-Za-z]{16,64}",
        examples=("K10{0-9a-f:64}::server:{0-9a-f:32}", "K10{0-9a-f:64}::node:{0-9a-f:32}"),
        near_misses=("K10{0-9a-f:64}",),
    ),
    by_name("consul-token", "HashiCorp Consul, Nomad", "consul|nomad", UUID, A_UUID, name="HTTP_TOKEN"),
    by_name(
        "vault-secret-id", "HashiCorp Vault", "vault|approle", UUID, A_UUID, telling="secret[_-]?id", name="SECRET_ID"
    ),
    Rule(
        "portainer-token",
        "Portainer",
        r"ptr_[A-Za-z0-9+/]{40,60}={0,2}",
        before=NOT_IN_A_NAME,
        check=is_mixed,
        examples=("ptr_{A-Za-z0-9+/:43}=",),
        near_misses=("ptr_{A-Za-z0-9:8}", "my_ptr_{A-Za-z0-9:43}="),
    ),
    Rule(
        "proxmox-token",
        "Proxmox",
        rf"PVEAPIToken=[A-Za-z0-9@._-]{{3,60}}![A-Za-z0-9._-]{{1,40}}[=:](?P<secret>{UUID})",
        examples=(f"Authorization: PVEAPIToken=root@pam!ci={A_UUID}",),
        near_misses=(f"PVEAPIToken=root@pam={A_UUID}",),
    ),
    Rule(
        "pterodactyl-key",
        "Pterodactyl",
        r"ptl[ac]_[A-Za-z0-9]{40,48}",
        examples=("ptla_{A-Za-z0-9:43}", "ptlc_{A-Za-z0-9:43}"),
        near_misses=("ptla_{A-Za-z0-9:8}",),
    ),
    Rule(
        "plex-token",
        "Plex",
        r"X-Plex-Token=(?P<secret>[A-Za-z0-9_-]{18,40})",
        before="",
        examples=("http://plex.acme.test:32400/library?X-Plex-Token={A-Za-z0-9_-:19}z",),
        near_misses=("X-Plex-Token={A-Za-z0-9:4}",),
    ),
    Rule(
        "sanctum-token",
        "Laravel, Coolify, Forge",
        r"[0-9]{1,9}\|[A-Za-z0-9]{40,64}",
        check=is_mixed,
        examples=("{1-9:3}|{A-Za-z0-9:40}", "{1-9:1}|{A-Za-z0-9:48}"),
        near_misses=("{1-9:3}|{A-Za-z0-9:12}", "{1-9:3}|{0-9a-f:40}"),
    ),
    Rule(
        "laravel-app-key",
        "Laravel",
        r"APP_KEY[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?base64:(?P<secret>[A-Za-z0-9+/]{43}=)",
        before="",
        examples=("APP_KEY=base64:{A-Za-z0-9+/:43}=",),
        near_misses=("APP_KEY=base64:{A-Za-z0-9+/:8}=",),
    ),
    Rule(
        "django-insecure-key",
        "Django",
        r"django-insecure-[A-Za-z0-9!@#$%^&*()_=+-]{38,50}",
        after="",
        examples=("django-insecure-{a-z0-9!@#$%^&*(_=+:49}z",),
        near_misses=("django-insecure-{a-z:8}",),
    ),
    by_name("rails-master-key", "Rails", "rails|secret_key_base", HEX32, AN_MD5, name="MASTER_KEY"),
    Rule(
        "sidekiq-credential",
        "Sidekiq",
        r"(?:CONTRIBSYS__COM[\"']?[=:][ \t]?[\"']?|gems\.contribsys\.com[ \t:]{1,3})"
        r"(?P<secret>[0-9a-f]{8}:[0-9a-f]{8})",
        before="",
        examples=("BUNDLE_ENTERPRISE__CONTRIBSYS__COM={0-9a-f:8}:{0-9a-f:8}",),
        near_misses=("BUNDLE_ENTERPRISE__CONTRIBSYS__COM={0-9a-f:4}",),
    ),
    Rule(
        "localstack-token",
        "LocalStack",
        r"ls-[A-Za-z0-9]{8}-[A-Za-z0-9]{4}-[A-Za-z0-9]{4}-[A-Za-z0-9]{4}-[A-Za-z0-9]{12}",
        before="0-9A-Za-z_-",
        check=has_digit,
        examples=(f"ls-{A_UUID}",),
        near_misses=("ls-{a-z:8}", f"urls-{A_UUID}"),
    ),
)
