"""The words that forms are filled with, by the name that forms use for them."""

from __future__ import annotations

IN_ROWS = {
    "svc": (
        "billing gateway auth-proxy inventory scheduler mailer ledger search-indexer notifier checkout "
        "payments-api identity warehouse telemetry webhooks frontend reporting importer thumbnailer geocoder "
        "orders catalog edge-router"
    ),
    "user": (
        "root deploy postgres www-data ubuntu jenkins alice bob mhansen redis nginx app runner git vagrant pi "
        "svc_backup klaus maria ec2-user"
    ),
    "file": (
        "src/auth/session.ts app/models/user.rb internal/server/handler.go lib/token_store.py "
        "tests/test_login.py src/components/LoginForm.tsx crates/core/src/lexer.rs pkg/secrets/rotate.go "
        "web/pages/reset-password.vue scripts/rotate-keys.sh config/initializers/devise.rb "
        "src/main/java/com/acme/auth/TokenFilter.java backend/settings/base.py "
        "packages/ui/src/PasswordInput.svelte cmd/agent/main.go lib/Session.php src/credentials.c "
        "include/keyring.h tests/integration/oauth.spec.ts App/Auth/KeychainStore.swift"
    ),
    "path": (
        "/etc/nginx/conf.d /var/lib/docker/overlay2 /home/alice/src/shop /opt/app/current "
        "/usr/local/share/ca-certificates ~/projects/ledger ./build/output /srv/www/html node_modules/.cache "
        "/tmp/pytest-of-runner target/debug/deps C:\\Users\\maria\\work /Users/bob/Code/api dist/assets"
    ),
    "adv": (
        "strictly carefully silently lazily eagerly properly implicitly explicitly recursively atomically "
        "gracefully concurrently partially temporarily manually automatically"
    ),
    "adj": (
        "required optional deprecated expired missing invalid stale empty unknown legacy internal nested "
        "readonly encrypted rotated shared default unused cached"
    ),
    "noun": (
        "request handler parser buffer queue worker cache lock index cursor batch retry timeout schema "
        "migration payload header middleware fixture snapshot pipeline registry callback wrapper iterator"
    ),
    "verb": (
        "validate refresh parse rotate revoke load store encrypt decode verify rename flush reject collect "
        "merge hydrate skip retry drop normalize"
    ),
    "func": (
        "validateToken refreshSession getPassword hash_password loadSecrets parseCredentials rotateKey "
        "read_api_key setAuthHeader buildQuery createUser resolveConfig withRetry makeRequest decodeJwt "
        "check_password fetchCredentials isAuthenticated"
    ),
    "var": (
        "token session password secret api_key credentials accessToken userPassword authKey clientSecret "
        "refreshToken privateKey passphrase pwd sessionKey signingKey"
    ),
    "kw": ("password token secret key passphrase session credential api_key auth"),
    "host": (
        "localhost 127.0.0.1 db api.example.com redis.internal.example 10.0.3.17 host.docker.internal "
        "registry.example.org postgres kafka-1 staging.example.net"
    ),
    "port": ("5432 3306 6379 8080 27017 9092 443 3000 5173 8443"),
    "branch": (
        "main develop feature/oauth-pkce fix/session-expiry release/2.4 hotfix/token-leak chore/bump-deps "
        "refactor/auth-module"
    ),
    "test": (
        "test_login_rejects_empty_password test_token_expiry test_session_cookie_flags "
        "test_rotates_keys_in_order TestParseSecretRef TestSessionStoreConcurrent it_hashes_the_passphrase "
        "test_api_key_header_missing TestKeyringUnlock test_pass_through_proxy test_refresh_token_reuse "
        "TestPasswordPolicy should_mask_credentials"
    ),
    "col": ("id email created_at updated_at user_id status expires_at last_used name scope"),
    "table": (
        "users sessions api_keys access_tokens oauth_clients password_resets audit_log credentials refresh_tokens"
    ),
    "level": ("INFO DEBUG WARN ERROR TRACE"),
    "pkg": (
        "jsonwebtoken passport bcrypt argon2-cffi cryptography django-allauth devise next-auth keytar "
        "python-dotenv golang.org/x/crypto spring-security-core symfony/password-hasher rustls oauth2-proxy "
        "iron-session tokio-rustls"
    ),
    "img": (
        "postgres:16-alpine redis:7.2 node:20-bookworm-slim grafana/grafana:10.4.1 "
        "ghcr.io/acme/gateway:latest python:3.12-slim quay.io/keycloak/keycloak:24.0 mysql:8.4 vault:1.15"
    ),
    "city": ("oslo lisbon tokyo nairobi denver lima"),
    "NAME": (
        "DB_PASSWORD POSTGRES_PASSWORD MYSQL_ROOT_PASSWORD REDIS_PASSWORD JWT_SECRET SESSION_SECRET "
        "SECRET_KEY_BASE API_KEY STRIPE_WEBHOOK_SECRET NEXTAUTH_SECRET SMTP_PASS ADMIN_PASSWORD "
        "ENCRYPTION_KEY AUTH_TOKEN CLIENT_SECRET APP_KEY MAILGUN_API_KEY DATADOG_API_KEY "
        "RABBITMQ_DEFAULT_PASS ELASTIC_PASSWORD MINIO_SECRET_KEY GRAFANA_ADMIN_PASSWORD COOKIE_SECRET "
        "HMAC_KEY VAULT_TOKEN TELEGRAM_BOT_SECRET LDAP_BIND_PASSWORD KEYSTORE_PASSWORD SONAR_TOKEN "
        "NPM_AUTH_TOKEN"
    ),
    "camel": (
        "dbPassword apiKey clientSecret accessToken authToken sessionSecret jwtSecret webhookSecret "
        "adminPassword signingSecret encryptionKey smtpPassword privateToken secretKey"
    ),
}

WORDS = {name: row.split() for name, row in IN_ROWS.items()}
WORDS["snake"] = [name.lower() for name in WORDS["NAME"]]
WORDS["sent"] = [
    "the upstream closed the connection",
    "no rows matched the filter",
    "the cache entry was evicted",
    "retrying with backoff",
    "falling back to the default provider",
    "the lock is held by another worker",
    "the file has Windows line endings",
    "permission was denied by policy",
    "the certificate chain could not be verified",
    "a newer revision exists on the server",
]
