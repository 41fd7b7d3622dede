"""What tools print, files contain and people write about secrets, as whole texts of many lines without any secret.

To the rules a text is one event, so a wrong find on one line would be redacted on all others. Modelled on what tools
print; `§word` is filled in (see `filling`) where there is a hash, an id or a uuid.
"""

# ruff: noqa: E501
from __future__ import annotations

OUTPUTS: dict[str, str] = {}

OUTPUTS["pytest"] = r"""
$ .venv/bin/python -m pytest -q tests/auth
============================= test session starts ==============================
platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0
rootdir: /home/mira/src/ledgerly
configfile: pyproject.toml
plugins: anyio-4.4.0, cov-5.0.0, xdist-3.6.1
collected 214 items

tests/auth/test_login.py::test_login_with_wrong_password_is_refused PASSED [  1%]
tests/auth/test_login.py::test_password_too_short[abc-MIN_PASSWORD_LENGTH=12] PASSED [  2%]
tests/auth/test_login.py::test_password_reset_token_expires_after_one_hour FAILED [  3%]
tests/auth/test_login.py::test_token_refresh_rotates_secret PASSED [  4%]
tests/auth/test_api_keys.py::test_api_key_prefix_is_shown_only PASSED [  5%]
tests/auth/test_api_keys.py::test_revoked_key[key_id=17-reason=rotated] PASSED [  6%]
tests/auth/test_api_keys.py::TestScopes::test_secret_scope_requires_admin SKIPPED (no vault) [  7%]

=================================== FAILURES ===================================
____________________ test_password_reset_token_expires_after_one_hour ____________________

client = <starlette.testclient.TestClient object at 0x7f3a1c2e9d50>
mailer = <tests.fakes.Mailer object at 0x7f3a1c2ea1d0>

    def test_password_reset_token_expires_after_one_hour(client, mailer):
        token = mailer.last_token()
        with freeze_time("2026-03-04T12:00:00Z"):
            response = client.post("/reset", json={"token": token, "password": new_password()})
>       assert response.status_code == 410
E       assert 200 == 410
E        +  where 200 = <Response [200 OK]>.status_code

tests/auth/test_login.py:88: AssertionError
----------------------------- Captured stdout call -----------------------------
reset token issued for user_id=42 expires_in=3600
----------------------------- Captured log call --------------------------------
INFO     ledgerly.auth:tokens.py:61 password reset requested user=42
WARNING  ledgerly.auth:tokens.py:77 token older than max_age, but clock skew allowed=True
=========================== short test summary info ============================
FAILED tests/auth/test_login.py::test_password_reset_token_expires_after_one_hour - assert 200 == 410
ERROR tests/auth/test_vault.py - KeyError: 'VAULT_TOKEN'
1 failed, 212 passed, 1 skipped, 1 error in 18.44s
E   pydantic_core._pydantic_core.ValidationError: 2 validation errors for Settings
E   secret_key
E     Field required [type=missing, input_value={'debug': 'true'}, input_type=dict]
E   database_password
E     Input should be a valid string [type=string_type, input_value=None, input_type=NoneType]
E       AssertionError: assert {'password': ['This field is required.']} == {'password': ['Too short.']}
E         Differing items:
E         {'password': ['This field is required.']} != {'password': ['Too short.']}
E         Full diff:
E         - {'password': ['Too short.']}
E         + {'password': ['This field is required.']}
"""

OUTPUTS["jest"] = r"""
$ npx jest --runInBand src/auth
 PASS  src/auth/__tests__/session.test.ts (6.21 s)
 FAIL  src/auth/__tests__/token.test.ts
  TokenService
    ✓ issues a token (12 ms)
    ✓ rejects an expired token (3 ms)
    ✕ stores refreshToken in an httpOnly cookie (48 ms)
    ○ skipped rotates the signing secret

  ● TokenService › stores refreshToken in an httpOnly cookie

    expect(received).toEqual(expected) // deep equality

    - Expected  - 2
    + Received  + 2

      Object {
    -   "accessToken": Any<String>,
    +   "accessToken": undefined,
        "expiresIn": 900,
    -   "tokenType": "Bearer",
    +   "tokenType": "bearer",
        "refreshToken": [Function anonymous],
      }

      41 |     const { accessToken, refreshToken } = await service.issue(user);
      42 |     expect(cookie).toMatchObject({ name: 'refresh_token', httpOnly: true, sameSite: 'strict' });
    > 43 |     expect(await service.issue(user)).toEqual({ accessToken: expect.any(String) });
         |                                       ^
      44 |   });
      45 |
      46 |   it('rejects when password is missing', async () => {

      at Object.<anonymous> (src/auth/__tests__/token.test.ts:43:39)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 skipped, 6 passed, 8 total
Snapshots:   0 total
Time:        7.904 s
Ran all test suites matching /src\/auth/i.
"""

OUTPUTS["vitest"] = r"""
 ❯ src/components/PasswordField.test.tsx (5 tests | 1 failed) 210ms
   ✓ PasswordField > renders label "Password" 41ms
   ✓ PasswordField > toggles type=password to type=text 22ms
   × PasswordField > shows the strength meter 90ms
     → Unable to find an element with the text: Password strength: strong. This could be because the text is broken up by multiple elements.

Ignored nodes: comments, script, style
<body>
  <div>
    <label for="password">Password</label>
    <input autocomplete="current-password" id="password" name="password" placeholder="Your password" type="password" value="" />
    <input type="hidden" name="csrf_token" value="" />
    <button aria-label="Show password" aria-pressed="false" data-testid="toggle-password" type="button">Show</button>
    <p class="hint" id="password-hint">Use 12 characters or more. Password managers are welcome.</p>
  </div>
</body>
"""

OUTPUTS["gotest"] = r"""
$ go test ./internal/... -run Token -v
=== RUN   TestTokenBucket
=== RUN   TestTokenBucket/key=alpha_rate=10
=== RUN   TestTokenBucket/key=beta_rate=0.5
--- PASS: TestTokenBucket (0.21s)
    --- PASS: TestTokenBucket/key=alpha_rate=10 (0.10s)
    --- PASS: TestTokenBucket/key=beta_rate=0.5 (0.11s)
=== RUN   TestParseSecretRef
    secretref_test.go:52: ParseSecretRef("vault://kv/data/billing#password") = {Path:kv/data/billing Key:password}, want {Path:kv/data/billing Key:passwd}
    secretref_test.go:58: got Secret{Name:"billing-db", Key:"password", Optional:false}
--- FAIL: TestParseSecretRef (0.00s)
panic: runtime error: invalid memory address or nil pointer dereference [recovered]
	panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x7f21ac]

goroutine 34 [running]:
testing.tRunner.func1.2({0x8a2f40, 0xc6b8d0})
	/usr/local/go/src/testing/testing.go:1632 +0x230
github.com/ledgerly/api/internal/auth.(*TokenSource).Token(0x0, {0x9d3c28, 0xc00011a0e0})
	/home/mira/src/api/internal/auth/token_source.go:44 +0x6c
github.com/ledgerly/api/internal/auth.TestTokenSource_nilSecret(0xc0000d4680)
	/home/mira/src/api/internal/auth/token_source_test.go:19 +0x3a
created by testing.(*T).Run in goroutine 1
	/usr/local/go/src/testing/testing.go:1743 +0x390
FAIL	github.com/ledgerly/api/internal/auth	0.018s
ok  	github.com/ledgerly/api/internal/secretstore	(cached)
?   	github.com/ledgerly/api/internal/keys	[no test files]
FAIL
"""

OUTPUTS["cargo"] = r"""
   Compiling proc-macro2 v1.0.86
   Compiling secrecy v0.8.0
   Compiling password-hash v0.5.0
   Compiling keyring v3.2.1
   Compiling tokio v1.39.3
warning: unused variable: `api_key`
  --> crates/client/src/lib.rs:41:9
   |
41 |     let api_key = std::env::var("ACME_API_KEY").ok();
   |         ^^^^^^^ help: if this is intentional, prefix it with an underscore: `_api_key`
   |
   = note: `#[warn(unused_variables)]` on by default

error[E0277]: `Secret<String>` doesn't implement `std::fmt::Display`
   --> crates/client/src/auth.rs:77:42
    |
77  |         format!("Authorization: Bearer {}", self.token)
    |                                             ^^^^^^^^^^ `Secret<String>` cannot be formatted with the default formatter
    |
    = help: the trait `std::fmt::Display` is not implemented for `Secret<String>`
error[E0425]: cannot find value `password` in this scope
   --> crates/client/src/auth.rs:81:18
    |
81  |     let secret = password.expose_secret();
    |                  ^^^^^^^^ help: a local variable with a similar name exists: `passwd`
For more information about this error, try `rustc --explain E0277`.
error: could not compile `client` (lib) due to 2 previous errors; 1 warning emitted
test auth::tests::token_is_hidden_in_debug ... ok
test auth::tests::password_is_zeroized ... FAILED
thread 'auth::tests::password_is_zeroized' panicked at crates/client/src/auth.rs:140:9:
assertion `left == right` failed: secret must be wiped
  left: [112, 97, 115, 115]
 right: [0, 0, 0, 0]
"""

OUTPUTS["junit"] = r"""
[INFO] Scanning for projects...
[INFO] --- maven-surefire-plugin:3.2.5:test (default-test) @ identity-service ---
[INFO] Running com.ledgerly.identity.PasswordEncoderTest
[ERROR] Tests run: 9, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 3.118 s <<< FAILURE! -- in com.ledgerly.identity.PasswordEncoderTest
[ERROR] com.ledgerly.identity.PasswordEncoderTest.tokenMustNotBeNull -- Time elapsed: 0.012 s <<< ERROR!
java.lang.IllegalArgumentException: token must not be null or empty
	at org.springframework.util.Assert.hasText(Assert.java:240)
	at com.ledgerly.identity.TokenParser.parse(TokenParser.java:31)
	at com.ledgerly.identity.PasswordEncoderTest.tokenMustNotBeNull(PasswordEncoderTest.java:58)
Caused by: javax.crypto.BadPaddingException: Given final block not properly padded. Such issues can arise if a bad key is used during decryption.
	at java.base/com.sun.crypto.provider.CipherCore.unpad(CipherCore.java:975)
Caused by: org.postgresql.util.PSQLException: FATAL: password authentication failed for user "identity"
	at org.postgresql.core.v3.ConnectionFactoryImpl.doAuthentication(ConnectionFactoryImpl.java:693)
[ERROR]   PasswordEncoderTest.encodes:44 expected: <bcrypt> but was: <argon2id>
2026-03-04T10:11:12.131Z  WARN 41 --- [main] .s.s.UserDetailsServiceAutoConfiguration : inMemoryUserDetailsManager in use
2026-03-04T10:11:13.007Z DEBUG 41 --- [nio-8080-exec-1] o.s.security.web.FilterChainProxy : Securing POST /oauth2/token
2026-03-04T10:11:13.101Z DEBUG 41 --- [nio-8080-exec-1] o.s.s.o.s.a.w.OAuth2TokenEndpointFilter : Token request failed: [invalid_client] Client authentication failed: client_secret
[INFO] BUILD FAILURE
[INFO] Total time:  14.553 s
"""

OUTPUTS["rspec"] = r"""
$ bundle exec rspec spec/models/user_spec.rb
User
  has_secure_password
    is expected to validate_presence_of(:password)
    is expected to have_secure_token(:auth_token) (FAILED - 1)
  #reset_password!
    clears reset_password_token
    sends "Your password was changed" to user.email

Failures:

  1) User has_secure_password is expected to have_secure_token(:auth_token)
     Failure/Error: it { is_expected.to have_secure_token(:auth_token) }
       Expected User to have the following:
       \tdb column: auth_token, :string
       \tindex on: auth_token
     # ./spec/models/user_spec.rb:14:in `block (3 levels) in <top (required)>'

Finished in 2.08 seconds (files took 3.91 seconds to load)
31 examples, 1 failure
rspec ./spec/models/user_spec.rb:14 # User has_secure_password is expected to have_secure_token(:auth_token)
Processing by SessionsController#create as HTML
  Parameters: {"authenticity_token"=>"[FILTERED]", "user"=>{"email"=>"kim@example.org", "password"=>"[FILTERED]", "remember_me"=>"1"}, "commit"=>"Log in"}
  User Load (0.4ms)  SELECT "users".* FROM "users" WHERE "users"."email" = $1 LIMIT $2  [["email", "kim@example.org"], ["LIMIT", 1]]
Completed 422 Unprocessable Content in 214ms (Views: 11.2ms | ActiveRecord: 0.4ms | Allocations: 8123)
Can't verify CSRF token authenticity.
"""

OUTPUTS["phpunit"] = r"""
PHPUnit 11.3.1 by Sebastian Bergmann and contributors.
Runtime:       PHP 8.3.10
..F..                                                               5 / 5 (100%)
1) Tests\Feature\PasswordResetTest::test_password_can_be_reset_with_valid_token
Failed asserting that 'passwords.token' is null.
/var/www/html/tests/Feature/PasswordResetTest.php:71
   Illuminate\Validation\ValidationException : The password field confirmation does not match.
   at vendor/laravel/framework/src/Illuminate/Support/helpers.php:320
    ➜ 320▕         throw ValidationException::withMessages(['password' => [trans('auth.password')]]);
"""

OUTPUTS["dotnet"] = r"""
  Determining projects to restore...
  Failed Ledgerly.Auth.Tests.TokenValidatorTests.Validate_WhenTokenExpired_ReturnsFalse [42 ms]
  Error Message:
   Microsoft.IdentityModel.Tokens.SecurityTokenExpiredException : IDX10223: Lifetime validation failed. The token is expired. ValidTo (UTC): '3/4/2026 10:00:00 AM', Current time (UTC): '3/4/2026 10:11:12 AM'.
  Stack Trace:
     at Ledgerly.Auth.TokenValidator.Validate(String token, SecurityKey key) in /src/Auth/TokenValidator.cs:line 52
     at Microsoft.IdentityModel.JsonWebTokens.JsonWebTokenHandler.ValidateTokenAsync(String token, TokenValidationParameters validationParameters)
Failed!  - Failed:     1, Passed:    62, Skipped:     0, Total:    63, Duration: 3 s - Ledgerly.Auth.Tests.dll (net8.0)
warning CS8618: Non-nullable property 'ClientSecret' must contain a non-null value when exiting constructor.
warning CA2211: Non-constant fields should not be visible: 'Keys.ApiKeyHeaderName'
"""

OUTPUTS["github actions"] = r"""
Run docker/login-action@v3
  with:
    registry: ghcr.io
    username: mira-ledgerly
    password: ***
    logout: true
    ecr: auto
  env:
    NODE_AUTH_TOKEN: ***
    AWS_REGION: eu-central-1
    TURBO_TOKEN: ***
    CACHE_KEY: node-§sha
Logging into ghcr.io...
Login Succeeded!
Run actions/cache@v4
  with:
    path: ~/.pnpm-store
    key: Linux-pnpm-store-§digest
    restore-keys: Linux-pnpm-store-
Cache hit for: Linux-pnpm-store-§digest
Received 184549376 of 191365632 (96.4%), 87.9 MBs/sec
Cache restored from key: Linux-pnpm-store-§digest
Run aws-actions/configure-aws-credentials@v4
  role-to-assume: arn:aws:iam::481516234200:role/github-deploy
  role-session-name: deploy-1289
Assuming role with OIDC
##[group]GITHUB_TOKEN Permissions
Contents: read
Metadata: read
SecurityEvents: write
##[endgroup]
Secret source: Actions
Prepare workflow directory
##[debug]Evaluating: secrets.NPM_TOKEN
##[debug]....=> '***'
##[debug]Result: '***'
##[warning]Unexpected input(s) 'token', valid inputs are ['github-token', 'script', 'debug']
Error: Input required and not supplied: token
Error: Process completed with exit code 1.
Post job cleanup.
[command]/usr/bin/git config --local --unset-all http.https://github.com/.extraheader
[command]/usr/bin/git submodule foreach --recursive sh -c "git config --local --name-only --get-regexp 'http\.https\:\/\/github\.com\/\.extraheader'"
"""

OUTPUTS["workflow yaml"] = r"""
name: release
on:
  push:
    tags: ['v*']
permissions:
  id-token: write
  contents: read
env:
  SENTRY_AUTH_TOKEN: ${{ secrets.SENTRY_AUTH_TOKEN }}
  DATABASE_URL: postgres://ci:${{ secrets.CI_DB_PASSWORD }}@localhost:5432/ci
jobs:
  publish:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@§sha # v4.1.7
        with:
          token: ${{ secrets.RELEASE_PAT }}
          persist-credentials: false
          ssh-key: ${{ secrets.DEPLOY_KEY }}
      - uses: actions/setup-node@v4
        with:
          registry-url: https://registry.npmjs.org
          cache: pnpm
      - run: pnpm publish --no-git-checks
        env:
          NODE_AUTH_TOKEN: ${{ secrets.NPM_TOKEN }}
      - name: import key
        run: echo "${{ secrets.GPG_PRIVATE_KEY }}" | gpg --import --batch --passphrase "$PASSPHRASE"
      - uses: softprops/action-gh-release@v2
        if: github.ref_type == 'tag' && secrets.token != ''
      - run: |
          echo "token=$(vault read -field=token auth/token/lookup-self)" >> "$GITHUB_OUTPUT"
          curl -fsS -H "Authorization: Bearer ${VAULT_TOKEN}" "$VAULT_ADDR/v1/secret/data/ci" -o out.json
          npm config set //registry.npmjs.org/:_authToken '${NODE_AUTH_TOKEN}'
          export PGPASSWORD="$(pass show db/ci)"
          docker login -u "$REGISTRY_USER" --password-stdin <<< "$REGISTRY_TOKEN"
"""

OUTPUTS["gitlab ci"] = r"""
variables:
  POSTGRES_PASSWORD: $CI_DB_PASSWORD
  VAULT_ID_TOKEN_AUD: https://vault.ledgerly.internal
  SECRET_DETECTION_EXCLUDED_PATHS: "tests, docs, i18n"
secret_detection:
  stage: test
  variables:
    SECRET_DETECTION_HISTORIC_SCAN: "true"
deploy:
  id_tokens:
    VAULT_ID_TOKEN:
      aud: https://vault.ledgerly.internal
  secrets:
    DATABASE_PASSWORD:
      vault: production/db/password@kv
      token: $VAULT_ID_TOKEN
  script:
    - helm upgrade --install api ./chart --set image.tag=$CI_COMMIT_SHORT_SHA --set-string existingSecret=api-secrets
    - 'curl --header "PRIVATE-TOKEN: $GITLAB_TOKEN" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/releases"'
    - 'curl --header "JOB-TOKEN: $CI_JOB_TOKEN" --upload-file dist.tgz "$URL"'
"""

OUTPUTS["rg password"] = r"""
$ rg -n -i password --glob '!node_modules'
src/auth/login.ts
12:import { hashPassword, verifyPassword } from './password';
27:  const { email, password } = req.body;
31:  if (!password || password.length < MIN_PASSWORD_LENGTH) {
32:    throw new BadRequestError('password_too_short');
45:  const ok = await verifyPassword(password, user.passwordHash);
51:  logger.warn({ userId: user.id }, 'wrong password');
66:  delete (user as any).password;
src/db/migrations/0007_users.sql
4:  password_hash text NOT NULL,
5:  password_changed_at timestamptz,
6:  password_reset_required boolean DEFAULT false,
src/i18n/de.json
88:    "password": "Passwort",
89:    "passwordRepeat": "Passwort wiederholen",
90:    "forgotPassword": "Passwort vergessen?",
91:    "passwordRules": "Mindestens zwölf Zeichen, keine Wörterbuchwörter.",
docs/deploy.md
14:Set `DB_PASSWORD` in the environment; the password is never written to disk.
31:  --from-literal=password="$(openssl rand -base64 24)"
docker-compose.yml
21:      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD in .env}
22:      POSTGRES_PASSWORD_FILE: /run/secrets/pg_password
terraform/rds.tf
18:  password               = random_password.master.result
19:  manage_master_user_password = true
22:    ignore_changes = [password]
test/helpers/users.ts
9:    password: faker.internet.password({ length: 20 }),
10:    passwordConfirm: undefined,
web/src/Login.vue
19:      <input v-model="form.password" type="password" :placeholder="$t('password')" required>
31:const password = ref('')
44:  if (password.value !== passwordRepeat.value) error.value = 'password_mismatch'
"""

OUTPUTS["grep token"] = r"""
$ grep -rn "token" src lib --include=*.{py,ts,go,rs,java,c} | head -80
src/lexer/scanner.py:14:TOKEN_RE = re.compile(r"(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<op>[-+*/()=])")
src/lexer/scanner.py:22:    token = Token(kind=match.lastgroup, value=match.group(), line=self.line)
src/lexer/scanner.py:31:        if token.kind == "name" and token.value in KEYWORDS:
src/lexer/scanner.py:40:    EOF_TOKEN = Token("eof", "", -1)
src/lexer/parser.py:55:        next_token = self.tokens[self.pos + 1]
src/lexer/parser.py:71:    def expect(self, token_type: str) -> Token:
src/llm/budget.py:9:MAX_TOKENS = 8192
src/llm/budget.py:10:DEFAULT_TOKENIZER = "cl100k_base"
src/llm/budget.py:18:    tokens_left = budget.max_tokens - usage.output_tokens
src/llm/budget.py:24:    eos_token="<|endoftext|>", pad_token="<pad>", bos_token="<s>",
src/llm/budget.py:25:    special_tokens = {"unk_token": "<unk>", "sep_token": "[SEP]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
src/api/client.ts:12:  private token?: string;
src/api/client.ts:19:  setToken(token: string | null): void { this.token = token ?? undefined; }
src/api/client.ts:26:    const token = localStorage.getItem('access_token');
src/api/client.ts:27:    if (token) headers.Authorization = `Bearer ${token}`;
src/api/client.ts:41:  refreshToken: () => client.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: get('refresh_token') }),
src/api/client.ts:55:export const TOKEN_STORAGE_KEY = 'ledgerly.auth.token';
src/api/client.ts:56:export const CSRF_HEADER_NAME = 'X-CSRF-Token';
lib/auth/token.go:17:	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
lib/auth/token.go:21:	claims, err := jwt.ParseWithClaims(token, &Claims{}, func(t *jwt.Token) (any, error) {
lib/auth/token.go:22:		return []byte(os.Getenv("JWT_SECRET")), nil
lib/auth/token.go:33:	Token     string `json:"token" yaml:"token" envconfig:"API_TOKEN" required:"true"`
lib/auth/token.go:34:	TokenURL  string `json:"token_url" default:"https://login.example.com/oauth2/token"`
lib/auth/token.go:35:	TokenFile string `json:"token_file" default:"/var/run/secrets/kubernetes.io/serviceaccount/token"`
lib/rs/token.rs:8:pub enum Token { Ident(String), Number(f64), LParen, RParen }
lib/rs/token.rs:19:        let token = self.next_token()?;
lib/rs/token.rs:25:    #[serde(rename = "accessToken", skip_serializing_if = "Option::is_none")]
lib/rs/token.rs:26:    pub access_token: Option<SecretString>,
lib/java/Token.java:11:    private final String token;
lib/java/Token.java:15:    @Value("${app.security.token:#{null}}") String token
lib/java/Token.java:21:    public static final String TOKEN_HEADER = "X-Auth-Token";
lib/java/Token.java:33:        String token = request.getHeader(TOKEN_HEADER);
lib/c/tok.c:9:static const char *token_names[] = { "IDENT", "NUMBER", "STRING" };
lib/c/tok.c:15:    char *token = strtok(line, " \t");
lib/c/tok.c:16:    while (token != NULL) { puts(token); token = strtok(NULL, " \t"); }
lib/c/tok.c:40:#define TOKEN_MAX 256
"""

OUTPUTS["grep key"] = r"""
src/table.tsx:14:  {rows.map((row) => <Row key={row.id} sortKey={sortKey} onSort={setSortKey} />)}
src/table.tsx:22:const columns = [{ key: 'createdAt', title: 'Created' }, { key: 'apiKeyCount', title: 'API keys' }];
src/table.tsx:31:  const key = `${user.id}:${role}`;
src/table.tsx:35:  localStorage.setItem(STORAGE_KEY, JSON.stringify(state));
src/table.tsx:39:    if (event.key === 'Enter' || event.key === 'Escape') close();
src/table.tsx:43:  const apiKey = process.env.NEXT_PUBLIC_MAPS_KEY!;
src/cache.py:8:CACHE_KEY = "ledgerly:v3:accounts:{account_id}:balance"
src/cache.py:9:KEY_PREFIX = "ledgerly-prod-session"
src/cache.py:15:    key = hashlib.sha256(repr(args).encode()).hexdigest()
src/cache.py:19:    redis.set(name=key, value=payload, ex=3600)
src/cache.py:23:    public_key = serialization.load_pem_public_key(data)
src/cache.py:27:    for key, value in sorted(mapping.items(), key=lambda item: item[1]):
src/cache.py:31:    primary_key=True, foreign_key="account.id", index_key=None
src/models.py:12:    id: Mapped[int] = mapped_column(primary_key=True)
src/models.py:13:    api_key_id: Mapped[UUID] = mapped_column(ForeignKey("api_keys.id"))
src/models.py:14:    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
src/models.py:15:    encryption_key_version: Mapped[int] = mapped_column(default=3)
src/aws.ts:5:const KMS_KEY_ARN = 'arn:aws:kms:eu-central-1:481516234200:key/§uuid';
src/aws.ts:6:const kmsKeyId = 'alias/ledgerly-prod';
src/aws.ts:7:const idempotencyKey = crypto.randomUUID();
src/aws.ts:8:const objectKey = `exports/2026/03/${exportId}.parquet`;
src/aws.ts:9:const partitionKey: AttributeType = { name: 'tenantId', type: AttributeType.STRING };
src/aws.ts:10:const routingKey = 'billing.invoice.created.v2';
src/aws.ts:11:const publicKey = '-----BEGIN PUBLIC KEY-----';
src/aws.ts:12:const sshKeyName = 'mira-laptop-2024';
src/aws.ts:13:const keyPair = 'deploy-eu-central-1';
src/aws.ts:14:const api_key_header = 'x-api-key';
src/aws.ts:15:const keyboardShortcutKey = 'ctrl+shift+k';
src/aws.ts:16:const signingKeyId = '2026-03-primary';
"""

OUTPUTS["compose"] = r"""
services:
  db:
    image: postgres:16-alpine@sha256:§digest
    environment:
      POSTGRES_USER: ledgerly
      POSTGRES_PASSWORD_FILE: /run/secrets/db_password
      PGDATA: /var/lib/postgresql/data/pgdata
    secrets: [db_password]
    healthcheck:
      test: ["CMD-SHELL", "pg_isready -U ledgerly"]
  api:
    build: .
    env_file: [.env]
    environment:
      - DATABASE_URL=postgres://ledgerly:${DB_PASSWORD}@db:5432/ledgerly
      - REDIS_URL=redis://redis:6379/0
      - JWT_SECRET=${JWT_SECRET}
      - SECRET_KEY_BASE
      - API_KEY=${API_KEY:-}
      - SMTP_PASSWORD=${SMTP_PASSWORD:?missing}
      - SESSION_SECRET_FILE=/run/secrets/session_secret
      - TOKEN_TTL=3600
      - PASSWORD_MIN_LENGTH=12
      - PASSWORD_HASHER=argon2id
      - AUTH_PROVIDER=keycloak
      - KEYCLOAK_CLIENT_ID=ledgerly-web
      - AWS_PROFILE=ledgerly-dev
      - GITHUB_TOKEN
    depends_on:
      db: { condition: service_healthy }
  keycloak:
    image: quay.io/keycloak/keycloak:25.0
    command: start-dev --import-realm
    environment:
      KEYCLOAK_ADMIN: admin
      KEYCLOAK_ADMIN_PASSWORD: "${KC_ADMIN_PASSWORD}"
      KC_DB_PASSWORD: !reset null
secrets:
  db_password:
    file: ./secrets/db_password.txt
  session_secret:
    environment: SESSION_SECRET
  jwt_key:
    external: true
    name: prod_jwt_key_v3
"""

OUTPUTS["k8s"] = r"""
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
  annotations:
    checksum/secret: §digest
    vault.hashicorp.com/agent-inject-secret-db: "database/creds/api"
spec:
  template:
    spec:
      serviceAccountName: api
      automountServiceAccountToken: false
      imagePullSecrets:
        - name: ghcr-pull-secret
      containers:
        - name: api
          image: ghcr.io/ledgerly/api:1.42.0
          env:
            - name: DB_PASSWORD
              valueFrom:
                secretKeyRef:
                  name: api-db
                  key: password
            - name: API_TOKEN
              valueFrom: { secretKeyRef: { name: api-tokens, key: token, optional: true } }
            - name: SECRET_PROVIDER
              value: vault
            - name: PASSWORD_POLICY
              value: "min=12,classes=3"
            - name: TOKEN_ISSUER
              value: https://login.ledgerly.example/realms/main
            - name: OTEL_EXPORTER_OTLP_HEADERS
              value: "authorization=Bearer $(OTEL_TOKEN)"
          envFrom:
            - secretRef:
                name: api-env
          volumeMounts:
            - name: tls
              mountPath: /etc/tls
              readOnly: true
      volumes:
        - name: tls
          secret:
            secretName: api-tls
            items:
              - key: tls.key
                path: server.key
---
apiVersion: external-secrets.io/v1beta1
kind: ExternalSecret
spec:
  refreshInterval: 1h
  secretStoreRef: { name: vault, kind: ClusterSecretStore }
  target: { name: api-db, creationPolicy: Owner }
  data:
    - secretKey: password
      remoteRef: { key: kv/data/api/db, property: password }
    - secretKey: token
      remoteRef:
        key: kv/data/api/token
        property: value
"""

OUTPUTS["kubectl"] = r"""
$ kubectl get secrets -n api
NAME                             TYPE                                  DATA   AGE
api-db                           Opaque                                2      212d
api-tls                          kubernetes.io/tls                     2      41d
default-token-x7k2p              kubernetes.io/service-account-token   3      212d
ghcr-pull-secret                 kubernetes.io/dockerconfigjson        1      212d
sh.helm.release.v1.api.v118      helm.sh/release.v1                    1      3d2h
$ kubectl describe secret api-db -n api
Name:         api-db
Namespace:    api
Labels:       app.kubernetes.io/managed-by=external-secrets
Annotations:  reconcile.external-secrets.io/data-hash: §md

Type:  Opaque

Data
====
password:  24 bytes
username:  8 bytes
$ kubectl describe pod api-7d9c5b6f4-kx2lp
Name:             api-7d9c5b6f4-kx2lp
Service Account:  api
Node:             gke-main-pool-1-§short-q7lz/10.132.0.14
    Container ID:   containerd://§digest
    Image ID:       ghcr.io/ledgerly/api@sha256:§digest
    Environment Variables from:
      api-env  Secret  Optional: false
    Environment:
      DB_PASSWORD:       <set to the key 'password' in secret 'api-db'>  Optional: false
      API_TOKEN:         <set to the key 'token' in secret 'api-tokens'>  Optional: true
      SECRET_PROVIDER:   vault
      POD_NAME:          api-7d9c5b6f4-kx2lp (v1:metadata.name)
    Mounts:
      /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-8xk2q (ro)
Volumes:
  kube-api-access-8xk2q:
    Type:                    Projected (a volume that contains injected data from multiple sources)
    TokenExpirationSeconds:  3607
    ConfigMapName:           kube-root-ca.crt
Events:
  Warning  Failed     12s (x4 over 58s)  kubelet  Error: couldn't find key password in Secret api/api-db
  Warning  FailedMount  3s  kubelet  MountVolume.SetUp failed for volume "tls" : secret "api-tls" not found
  Normal   Pulled     9s  kubelet  Successfully pulled image "ghcr.io/ledgerly/api:1.42.0" in 412ms (412ms including waiting)
error: You must be logged in to the server (Unauthorized)
"""

OUTPUTS["terraform"] = r"""
resource "random_password" "master" {
  length           = 32
  special          = true
  override_special = "!#$%&*()-_=+[]{}<>:?"
}

resource "aws_secretsmanager_secret" "db" {
  name       = "ledgerly/prod/db-password"
  kms_key_id = aws_kms_key.main.arn
}

resource "aws_secretsmanager_secret_version" "db" {
  secret_id     = aws_secretsmanager_secret.db.id
  secret_string = jsonencode({ username = "ledgerly", password = random_password.master.result })
}

resource "aws_db_instance" "main" {
  identifier = "ledgerly-prod"
  username   = "ledgerly"
  password   = var.db_password
  ca_cert_identifier = "rds-ca-rsa2048-g1"
  performance_insights_kms_key_id = data.aws_kms_key.rds.arn
}

variable "db_password" {
  description = "Master password of the database"
  type        = string
  sensitive   = true
  default     = null
}

provider "github" {
  token = data.vault_generic_secret.github.data["token"]
  owner = "ledgerly"
}

data "vault_generic_secret" "github" {
  path = "kv/ci/github"
}
$ terraform plan -no-color
  # aws_db_instance.main will be updated in-place
  ~ resource "aws_db_instance" "main" {
      ~ password = (sensitive value)
      ~ engine_version = "16.2" -> "16.3"
        # (61 unchanged attributes hidden)
    }
  # aws_secretsmanager_secret_version.db must be replaced
-/+ resource "aws_secretsmanager_secret_version" "db" {
      ~ arn            = "arn:aws:secretsmanager:eu-central-1:481516234200:secret:ledgerly/prod/db-password-k3XqPz" -> (known after apply)
      ~ secret_string  = (sensitive value) # forces replacement
      ~ version_id     = "§uuid" -> (known after apply)
    }
  + resource "random_password" "master" {
      + bcrypt_hash = (sensitive value)
      + result      = (sensitive value)
      + keepers     = { "rotation" = "2026-03" }
    }
  # tls_private_key.deploy will be created
      + private_key_pem = (sensitive value)
      + public_key_openssh = (known after apply)
Plan: 2 to add, 1 to change, 1 to destroy.
"""

OUTPUTS["package lock"] = r"""
    "node_modules/jsonwebtoken": {
      "version": "9.0.2",
      "resolved": "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz",
      "license": "MIT",
      "dependencies": {
        "jws": "^3.2.2",
        "lodash.isplainobject": "^4.0.6",
        "ms": "^2.1.1"
      },
      "engines": { "node": ">=12", "npm": ">=6" }
    },
    "node_modules/csrf-token-helper": {
      "version": "2.0.0",
      "resolved": "https://registry.npmjs.org/csrf-token-helper/-/csrf-token-helper-2.0.0.tgz",
      "deprecated": "use secure-token instead"
    },
"""

OUTPUTS["lockfiles"] = r"""
[[package]]
name = "passlib"
version = "1.7.4"
description = "comprehensive password hashing framework supporting over 30 schemes"
optional = false
python-versions = "*"
files = [
    {file = "passlib-1.7.4-py2.py3-none-any.whl", hash = "sha256:§digest"},
    {file = "passlib-1.7.4.tar.gz", hash = "sha256:§digest"},
]
[[package]]
name = "secrecy"
version = "0.8.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "§digest"
dependencies = [
 "zeroize",
]
"@auth/core@^0.34.0":
  version "0.34.2"
  resolved "https://registry.yarnpkg.com/@auth/core/-/core-0.34.2.tgz#§sha"
    jsonwebtoken@9.0.2:
    dependencies:
      cryptography==43.0.0 --hash=sha256:§digest
GEM
  remote: https://rubygems.org/
  specs:
    devise (4.9.4)
      bcrypt (~> 3.0)
    devise-token_auth (1.2.4)
CHECKSUMS
  bcrypt (3.1.20) sha256=§digest
        "reference": "§sha",
        "shasum": "",
            "name": "firebase/php-jwt",
    "content-hash": "§md",
"""

OUTPUTS["gitlog"] = r"""
$ git log --stat -3
commit §sha (HEAD -> fix/token-refresh, origin/main)
Author: Mira Anders <mira@ledgerly.example>
Date:   Wed Mar 4 11:02:33 2026 +0100

    auth: rotate the signing secret without logging people out

    The secret was read once at start-up. Now the key set holds the current and
    the previous key; tokens signed by either are accepted for one hour.

    Password: unchanged. Token: same format. Secret: see docs/rotation.md.
    Fixes: #812
    Change-Id: I§sha
    Signed-off-by: Mira Anders <mira@ledgerly.example>

 docs/rotation.md        |  31 +++++++++++
 src/auth/secret.ts      |  77 +++++++++++++++++------
 src/auth/token.ts       |  12 ++---
 src/auth/password.ts => src/auth/passwords/index.ts | 0
 4 files changed, 96 insertions(+), 24 deletions(-)
§short Remove password from the debug log
§short Bump secret-scanner from 2.1 to 2.2
§short Token bucket: refill by elapsed time
§short fix(api-key): mask all but last four
§short refs/heads/token-v2
index §short..§short 100644
gpg: Signature made Wed 04 Mar 2026 11:02:33 AM CET
gpg:                using EDDSA key §PRINT
gpg: Good signature from "Mira Anders <mira@ledgerly.example>" [ultimate]
Primary key fingerprint: 3A1F 09C2 7BB4 D1E0 55A9  8C3E 6F20 B7D4 1E88 90AC
The key fingerprint is:
"""

OUTPUTS["docker build"] = r"""
#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 1.62kB done
#1 DONE 0.0s
 => [internal] load metadata for docker.io/library/node:22-alpine                       0.9s
 => [auth] library/node:pull token for registry-1.docker.io                             0.0s
 => [auth] ledgerly/api:pull,push token for ghcr.io                                     0.0s
 => CACHED [build 2/9] RUN --mount=type=secret,id=npm_token npm ci                      0.0s
 => [build 3/9] COPY --from=deps /app/node_modules ./node_modules                       2.3s
 => => sha256:§digest 49.56MB / 49.56MB   3.1s
 => exporting to image                                                                  1.1s
 => => writing image sha256:§digest                                                  0.0s
 => => naming to ghcr.io/ledgerly/api:dev                                               0.0s

 3 warnings found (use docker --debug to expand):
 - SecretsUsedInArgOrEnv: Do not use ARG or ENV instructions for sensitive data (ARG "NPM_TOKEN") (line 9)
 - SecretsUsedInArgOrEnv: Do not use ARG or ENV instructions for sensitive data (ENV "DATABASE_PASSWORD") (line 14)
 - LegacyKeyValueFormat: "ENV key=value" should be used instead of legacy "ENV key value" format (line 14)
FROM node:22-alpine AS build
ARG NPM_TOKEN
ENV NODE_ENV=production SECRET_KEY_BASE_DUMMY=1 PASSWORD_FILE=/run/secrets/pw
RUN --mount=type=secret,id=npm_token,env=NPM_TOKEN npm ci
RUN --mount=type=ssh git clone git@github.com:ledgerly/private.git
RUN echo "//registry.npmjs.org/:_authToken=\${NPM_TOKEN}" > .npmrc
RUN apt-get update && apt-get install -y --no-install-recommends gnupg=2.2.40-1.1 && apt-key adv --keyserver hkps://keyserver.ubuntu.com --recv-keys §PRINT
HEALTHCHECK CMD wget -qO- --header="X-Health-Key: $HEALTH_KEY" http://localhost:8080/healthz
$ docker images --digests
ghcr.io/ledgerly/api   1.42.0   sha256:§digest   §short   2 days ago   212MB
"""

OUTPUTS["sql"] = r"""
CREATE TABLE users (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email         citext NOT NULL UNIQUE,
    password_hash text   NOT NULL,
    api_key       uuid   DEFAULT gen_random_uuid(),
    reset_token   text   UNIQUE,
    token_version integer NOT NULL DEFAULT 1
);
ALTER TABLE users ADD CONSTRAINT password_not_empty CHECK (length(password_hash) > 20);
CREATE UNIQUE INDEX CONCURRENTLY users_reset_token_key ON users (reset_token) WHERE reset_token IS NOT NULL;
COMMENT ON COLUMN users.api_key IS 'public identifier; the secret part is hashed in key_hash';
UPDATE users SET password_hash = crypt(:password, gen_salt('bf', 12)), reset_token = NULL WHERE id = :id;
SELECT u.email, t.token_hash, t.expires_at FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.token_hash = digest($1, 'sha256');
INSERT INTO settings (key, value) VALUES ('password.min_length', '12'), ('token.ttl', '3600'), ('secret.rotation', 'monthly');
ALTER ROLE ledgerly WITH PASSWORD :'new_password';
GRANT SELECT (id, email) ON users TO reporting;
\password ledgerly
Enter new password for user "ledgerly":
 column_name   | data_type | is_nullable
---------------+-----------+-------------
 password_hash | text      | NO
 reset_token   | text      | YES
 api_key       | uuid      | YES
(3 rows)
 id |      email      | password_set | token_version
----+-----------------+--------------+---------------
 41 | kim@example.org | t            |             3
 42 | lee@example.org | f            |             1
ERROR:  duplicate key value violates unique constraint "users_email_key"
DETAIL:  Key (email)=(kim@example.org) already exists.
ERROR:  null value in column "password_hash" of relation "users" violates not-null constraint
DETAIL:  Failing row contains (43, lee@example.org, null, §uuid, null, 1).
"""

OUTPUTS["minified"] = r"""
!function(e,t){"object"==typeof exports?module.exports=t():e.AuthKit=t()}(self,(()=>(()=>{"use strict";var e={d:(t,r)=>{for(var n in r)e.o(r,n)&&!e.o(t,n)&&Object.defineProperty(t,n,{enumerable:!0,get:r[n]})}};
function s(e){return{token:e.token,secret:e.secret,apiKey:e.apiKey||n.apiKey,password:t?.password??null,key:i[o],auth:{user:u,pass:p}}}
const a={password:"password",token:"token",secret:"hidden"},c=(e,t)=>{const r=e.headers.get("authorization");return r&&r.startsWith("Bearer ")?r.slice(7):null};
t.setRequestHeader("X-CSRFToken",r),t.setRequestHeader("Authorization","Basic "+btoa(n+":"+o)),e.accessToken=t.access_token,e.refreshToken=t.refresh_token,e.idToken=t.id_token;
var l="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=",d="0123456789abcdef",f="useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict";
if(e.type==="password"&&!t.secretKey)throw new Error("apiKey or secretKey is required");const g=e=>e.replace(/password=[^&]*/g,"password=***");
(self.webpackChunkapp=self.webpackChunkapp||[]).push([[179],{4147:e=>{e.exports=JSON.parse('{"name":"authkit","version":"3.1.4"}')}}]);
//# sourceMappingURL=authkit.min.js.map
,mappings:"AAAA,SAASA,EAAMC,GACb,OAAOA,EAAEC,MAAMC,KAAKC,IAAIC,GAAGC,CAAC,CCD9B,MAAMC,EAAW,WACf,IAAIC"
"""

OUTPUTS["jsx"] = r"""
export function LoginForm({ onSubmit, error }: Props) {
  const [password, setPassword] = useState('');
  const [showPassword, setShowPassword] = useState(false);
  const { data: token, isLoading } = useQuery({ queryKey: ['csrf-token'], queryFn: fetchCsrfToken });
  const passwordId = useId();
  return (
    <form onSubmit={handleSubmit(({ email, password }) => onSubmit({ email, password, token }))}>
      <Label htmlFor={passwordId}>Password</Label>
      <Input id={passwordId} type={showPassword ? 'text' : 'password'} value={password} onChange={(e) => setPassword(e.target.value)} />
      <input type="password" name="password" autoComplete="new-password" placeholder="••••••••" minLength={12} />
      <TextField label="API key" name="apiKey" helperText="Starts with lk_live_" placeholder="lk_live_…" />
      <TextField label="Secret" type="password" placeholder="Enter your client secret" error={!!errors.secret} />
      <ApiKeyTable keys={apiKeys} onRevoke={(key) => revoke(key.id)} emptyText="No API keys yet" />
      <Trans i18nKey="auth.password.forgot" components={{ a: <Link to="/reset-password" /> }} />
      <AuthProvider clientId={import.meta.env.VITE_CLIENT_ID} authority={authority} redirectUri={window.location.origin}>
      <Elements stripe={stripePromise} options={{ clientSecret, appearance }}>
      <Button data-cy="copy-token" disabled={!token || isLoading} onClick={() => copy(token)}>Copy token</Button>
      {error?.code === 'invalid_password' && <Alert severity="error">{t('auth.invalidPassword')}</Alert>}
"""

OUTPUTS["i18n"] = r"""
{
  "auth": {
    "password": "Kennwort",
    "password_confirmation": "Kennwort bestätigen",
    "current_password": "Aktuelles Kennwort",
    "new_password": "Neues Kennwort",
    "passwordPlaceholder": "Ihr Kennwort",
    "forgot_password": "Kennwort vergessen?",
    "reset_token_expired": "Der Link ist abgelaufen.",
    "secret": "Geheimnis",
    "client_secret": "Client-Geheimnis",
    "api_key": "API-Schlüssel",
    "access_token": "Zugriffstoken",
    "token": "Token",
    "pin": "PIN",
    "passphrase": "Passphrase",
    "otp": "Einmalcode"
  },
  "fr": { "password": "Mot de passe", "api_key": "Clé d'API", "token": "Jeton", "secret": "Clé secrète", "passphrase": "Phrase secrète" },
  "es": { "password": "Contraseña", "api_key": "Clave de API", "token": "Ficha", "secret": "Secreto" },
  "ja": { "password": "パスワード", "api_key": "APIキー", "token": "トークン", "secret": "シークレット" },
  "ru": { "password": "Пароль", "api_key": "Ключ API", "token": "Токен", "secret": "Секрет" },
  "tr": { "password": "Parola", "api_key": "API anahtarı" },
  "pl": { "password": "Hasło", "password_hint": "Co najmniej 12 znaków" },
  "zh": { "password": "密码", "secret": "密钥", "token": "令牌" },
  "ar": { "password": "كلمة المرور" },
  "pt": { "password": "Senha", "token": "Código" },
  "fi": { "password": "Salasana" }, "nl": { "password": "Wachtwoord" }, "sv": { "password": "Lösenord" }, "cs": { "password": "Heslo" },
  "hu": { "password": "Jelszó" }, "id": { "password": "Kata Sandi" }, "vi": { "password": "Mật khẩu" }
}
msgid "Password"
msgstr "Adgangskode"
msgid "Your password must contain at least 8 characters."
msgstr "Adgangskoden skal indeholde mindst 8 tegn."
msgid "Secret key"
msgstr "Hemmelig nøgle"
password=Passwort
password.new=Neues Passwort
password.old=Altes Passwort
label.apiKey=API-Schlüssel
label.token=Zugriffs-Token
error.password.wrong=Falsches Passwort
<string name="password">Passwort</string>
<string name="prompt_password">Passwort (optional)</string>
<string name="error_incorrect_password">Dieses Passwort ist falsch</string>
"password.title" = "Passwort ändern";
"token.expired" = "Sitzung abgelaufen";
<trans-unit id="password"><source>Password</source><target>Passwort</target></trans-unit>
"""

OUTPUTS["python auth"] = r"""
import getpass, hmac, os, secrets
from dataclasses import dataclass, field
from pydantic import SecretStr
from django.contrib.auth.hashers import check_password, make_password

PASSWORD_RESET_TIMEOUT = 3600
AUTH_USER_MODEL = "accounts.User"
SECRET_KEY = os.environ["SECRET_KEY"]
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
TOKEN_URLSAFE_BYTES = 32
API_KEY_HEADER = APIKeyHeader(name="X-API-Key", auto_error=False)
oauth2_scheme = OAuth2PasswordBearer(tokenUrl="auth/token")
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"}]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
CSRF_TRUSTED_ORIGINS = ["https://*.ledgerly.example"]
SESSION_COOKIE_NAME = "ledgerly_session"

@dataclass
class Credentials:
    username: str
    password: str = field(repr=False)
    token: str | None = None
    api_key: SecretStr = SecretStr("")
    secret: Optional[str] = None

def login(user: str, password: str, *, otp: str = "") -> Token:
    if not check_password(password, user.password):
        raise InvalidPassword("password does not match")
    token = secrets.token_urlsafe(TOKEN_URLSAFE_BYTES)
    user.auth_token = token
    user.password = make_password(password)
    user.set_password(form.cleaned_data["password1"])
    return Token(value=token, secret=derive_secret(user, token))

password = getpass.getpass("Password: ")
password = input("Enter the password for the vault: ")
password = request.POST.get("password", "")
password = kwargs.pop("password", None)
password = config["database"]["password"]
password = Path("/run/secrets/db_password").read_text().strip()
password = keyring.get_password("ledgerly", username)
password = base64.b64decode(row.password_encrypted)
passwd = pwd.getpwnam(name).pw_passwd
token = response.json()["access_token"]
token = jwt.encode({"sub": user.id, "exp": expires}, key=settings.jwt_secret, algorithm="HS256")
token = token_from_header(request.headers.get("Authorization"))
secret = client.secrets.kv.v2.read_secret_version(path="billing")["data"]["data"]
secret = hmac.new(key, msg=body, digestmod="sha256").hexdigest()
api_key = os.getenv("STRIPE_API_KEY", "")
api_key = args.api_key or settings.API_KEY or None
session = boto3.Session(aws_access_key_id=key_id, aws_secret_access_key=secret_key)
conn = psycopg.connect(host=host, user=user, password=password, dbname="ledgerly")
conn = psycopg.connect(f"postgresql://{user}:{quote(password)}@{host}/{db}")
engine = create_engine(URL.create("postgresql", username=user, password=pw, host=host))
requests.get(url, headers={"Authorization": f"Bearer {token}", "X-Api-Key": api_key}, auth=(user, password))
requests.post(token_url, data={"grant_type": "client_credentials", "client_id": cid, "client_secret": secret})
smtp.login(settings.smtp_user, settings.smtp_password.get_secret_value())
parser.add_argument("--password", metavar="PASSWORD", help="password; read from stdin if '-'")
parser.add_argument("--token-file", type=Path, default=Path("~/.config/ledgerly/token"))
logger.info("token=%s user=%s", mask(token), user.id)
print(f"password: {'*' * len(password)}")
assert response.json() == {"detail": [{"loc": ["body", "password"], "msg": "field required", "type": "value_error.missing"}]}
fields = ("username", "password", "token", "secret")
SENSITIVE = re.compile(r"(?i)(password|passwd|pwd|secret|token|api[_-]?key)\s*[=:]\s*\S+")
self.fields["password"].widget = forms.PasswordInput(attrs={"autocomplete": "off", "placeholder": "Password"})
validators.DataRequired(), EqualTo('confirm', message='Passwords must match')
key = lambda token: token.position
password_field = driver.find_element(By.ID, "password")
with mock.patch.dict(os.environ, {"API_TOKEN": "", "DEBUG": "1"}):
monkeypatch.delenv("GITHUB_TOKEN", raising=False)
tokens = tokenizer("The quick brown fox", return_tensors="pt")["input_ids"]
model.generate(**inputs, max_new_tokens=256, pad_token_id=tokenizer.eos_token_id)
"""

OUTPUTS["js auth"] = r"""
const secret = process.env.JWT_SECRET ?? (() => { throw new Error('JWT_SECRET is not set') })();
const token = jwt.sign({ sub: user.id }, secret, { expiresIn: '15m' });
const { password, ...safeUser } = user;
const password = await bcrypt.hash(req.body.password, 12);
const isMatch = await bcrypt.compare(candidatePassword, this.password);
user.password = undefined;
userSchema.add({ password: { type: String, required: true, select: false, minlength: 12 } });
const schema = z.object({ email: z.string().email(), password: z.string().min(12), token: z.string().uuid().optional() });
type Credentials = { username: string; password: string; otp?: string; token: Token | null };
interface SecretStore { get(key: string): Promise<string>; set(key: string, secret: string): Promise<void> }
export const authConfig = { secret: env.AUTH_SECRET, session: { strategy: 'jwt' }, pages: { signIn: '/login' } };
passport.use(new LocalStrategy({ usernameField: 'email', passwordField: 'password' }, verify));
app.use(session({ secret: config.session.secret, resave: false, cookie: { secure: true } }));
const pool = new Pool({ host, user, password: () => signer.getAuthToken(), database: 'ledgerly' });
headers: { Authorization: `Bearer ${await getToken()}`, 'X-Api-Key': apiKey, 'Content-Type': 'application/json' },
axios.defaults.headers.common['X-CSRF-TOKEN'] = document.querySelector('meta[name="csrf-token"]').content;
cy.get('[data-cy=password]').type(Cypress.env('PASSWORD'), { log: false });
await page.fill('input[name="password"]', process.env.E2E_PASSWORD!);
await page.getByLabel('Password').fill(password);
await expect(page.getByText('Wrong password')).toBeVisible();
const key = `${prefix}:${token}`;
const apiKey = useSettings((s) => s.apiKey);
if (key === 'password') return undefined;
const REDACT_KEYS = ['password', 'token', 'secret', 'authorization', 'cookie', 'apiKey', 'set-cookie'];
const masked = value.replace(/(password|token)=([^&]+)/gi, '$1=<redacted>');
throw new UnauthorizedException('Invalid token: signature mismatch');
enum TokenType { Access = 'access', Refresh = 'refresh', PasswordReset = 'password_reset', ApiKey = 'api_key' }
const PASSWORD_REGEX = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{12,}$/;
@Column({ name: 'password_hash', nullable: false }) passwordHash!: string;
@IsString() @MinLength(12) readonly password: string;
this.logger.debug(`token ${token.slice(0, 6)}… refreshed for ${user.email}`);
<meta name="csrf-token" content="<%= csrfToken %>">
<input type="hidden" name="_token" value="{{ csrf_token() }}">
<input type="password" class="form-control" id="inputPassword" placeholder="Password" aria-describedby="passwordHelp">
{% csrf_token %}
<%= f.password_field :password, autocomplete: "current-password" %>
localStorage.removeItem('token'); sessionStorage.setItem('authRedirect', location.pathname);
export type ApiKey = Brand<string, 'ApiKey'>;
tokens: { color: { primary: '#1d4ed8', secretBadge: 'rgb(220 38 38 / 0.9)' }, space: { md: '12px' } },
const designTokens = { 'color.text.default': '#172B4D', 'font.family.code': 'ui-monospace' };
"""

OUTPUTS["go auth"] = r"""
type Config struct {
	Password     string        `env:"DB_PASSWORD,required" json:"-"`
	APIKey       string        `yaml:"api_key" validate:"required,min=20"`
	ClientSecret string        `mapstructure:"client_secret"`
	TokenTTL     time.Duration `default:"15m"`
}
cfg.Password = os.Getenv("DB_PASSWORD")
token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
if err := bcrypt.CompareHashAndPassword(user.PasswordHash, []byte(password)); err != nil {
	return "", fmt.Errorf("wrong password for %q: %w", user.Name, err)
}
req.Header.Set("Authorization", "Bearer "+token)
req.SetBasicAuth(cfg.User, cfg.Password)
dsn := fmt.Sprintf("host=%s user=%s password=%s dbname=%s sslmode=disable", host, user, password, name)
flag.StringVar(&opts.token, "token", "", "API token (default $LEDGERLY_TOKEN)")
secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "api-db"}, Type: corev1.SecretTypeOpaque}
logger.Info("token issued", zap.String("token_id", id), zap.Int("expires_in", 900))
var ErrTokenExpired = errors.New("token: expired")
key := types.NamespacedName{Name: name, Namespace: ns}
for key, secret := range secrets.Data {
password := ctx.Value(passwordKey{}).(string)
"""

OUTPUTS["other langs"] = r"""
private String password;
public void setPassword(final String password) { this.password = password; }
String password = System.getenv("DB_PASSWORD");
String token = Jwts.builder().subject(user.getId()).signWith(key).compact();
char[] password = console.readPassword("Password for %s: ", user);
@ConfigurationProperties(prefix = "app.security") record Security(String secret, Duration tokenTtl) {}
KeyStore ks = KeyStore.getInstance("PKCS12"); ks.load(in, password.toCharArray());
.password(passwordEncoder().encode(dto.password()))
spring.datasource.password=${DB_PASSWORD}
spring.security.oauth2.client.registration.github.client-secret=${GITHUB_CLIENT_SECRET:}
server.ssl.key-store-password=${KEYSTORE_PASSWORD:#{null}}
var password = Configuration["Smtp:Password"] ?? throw new InvalidOperationException("Smtp:Password missing");
public required string ClientSecret { get; init; }
services.Configure<JwtOptions>(o => o.SigningKey = builder.Configuration["Jwt:Key"]!);
"Password": "", "ConnectionStrings": { "Default": "Server=.;Database=Ledgerly;Trusted_Connection=True" },
val password: String by lazy { System.getenv("KEYSTORE_PASSWORD").orEmpty() }
storePassword = keystoreProperties["storePassword"] as String
keyAlias = "upload"; keyPassword = project.findProperty("keyPassword")?.toString()
signingKeyId = providers.gradleProperty("signingKeyId").get()
password = ENV.fetch("SMTP_PASSWORD") { Rails.application.credentials.dig(:smtp, :password) }
params.require(:user).permit(:email, :password, :password_confirmation)
config.filter_parameters += [:passw, :secret, :token, :_key, :crypt, :salt, :certificate, :otp, :ssn]
has_secure_token :api_token, length: 36
$password = $_POST['password'] ?? '';
$user->password = Hash::make($request->password);
'password' => ['required', 'confirmed', Password::min(12)->mixedCase()],
'password' => env('DB_PASSWORD', ''),
'key' => env('APP_KEY'),
'secret' => config('services.stripe.secret'),
define('AUTH_KEY', getenv('WP_AUTH_KEY'));
let password: SecretString = rpassword::prompt_password("Password: ")?.into();
let token = env::var("GITHUB_TOKEN").context("GITHUB_TOKEN is not set")?;
#[arg(long, env = "API_KEY", hide_env_values = true)] api_key: Option<String>,
.bearer_auth(self.token.expose_secret())
let password = passwordField.text ?? ""
try keychain.set(token, key: "accessToken")
let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account]
final String? token = await storage.read(key: 'token');
TextFormField(obscureText: true, decoration: const InputDecoration(labelText: 'Password'))
password = Application.get_env(:ledgerly, :smtp_password)
field :password, :string, virtual: true, redact: true
config :ledgerly, LedgerlyWeb.Endpoint, secret_key_base: System.fetch_env!("SECRET_KEY_BASE")
(defn login [{:keys [username password]}] (when (check password (:password-hash user)) (issue-token user)))
password <- Sys.getenv("DB_PASSWORD")
con <- DBI::dbConnect(RPostgres::Postgres(), user = "r", password = rstudioapi::askForPassword("Database password"))
my $password = $ENV{DB_PASSWORD} // die "DB_PASSWORD not set";
local password = os.getenv("REDIS_PASSWORD")
$SecurePassword = Read-Host -AsSecureString -Prompt "Password"
$cred = New-Object System.Management.Automation.PSCredential ($user, $SecurePassword)
read -rsp "Password: " PASSWORD && export PASSWORD
PASSWORD=$(security find-generic-password -a "$USER" -s ledgerly -w)
PGPASSWORD="$DB_PASSWORD" psql -h "$DB_HOST" -U "$DB_USER" -c 'select 1'
TOKEN=$(curl -s -X POST "$AUTH_URL/token" -d grant_type=client_credentials | jq -r .access_token)
export GITHUB_TOKEN=$(gh auth token)
[ -n "$API_KEY" ] || { echo "API_KEY is not set" >&2; exit 1; }
API_KEY=${1:?usage: deploy.sh API_KEY}
unset PASSWORD TOKEN SECRET
echo "secret=${SECRET:0:3}***" >&2
if [[ "$token" == "null" ]]; then echo "token request failed"; fi
kubectl create secret generic api-db --from-literal=password="$DB_PASSWORD" --dry-run=client -o yaml | kubeseal > sealed.yaml
kubectl get secret api-db -o jsonpath='{.data.password}' | base64 -d | wc -c
vault kv put kv/api password=- < password.txt
op read "op://Engineering/api-db/password"
aws secretsmanager get-secret-value --secret-id ledgerly/prod/db-password --query SecretString --output text > /dev/null
gh secret set NPM_TOKEN < token.txt
htpasswd -B -c .htpasswd mira
ssh-keygen -t ed25519 -N "" -f ./deploy_key -C "deploy@ledgerly"
openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj "/CN=api.ledgerly.example"
keytool -list -keystore app.jks -storepass:env KEYSTORE_PASS
mysql -u root -p ledgerly < schema.sql
curl -u "$USER:$PASS" https://api.ledgerly.example/v1/keys
curl -H "Authorization: Bearer <token>" -H "X-Api-Key: YOUR_API_KEY" https://api.example.com
curl -H 'Authorization: token $GITHUB_TOKEN' https://api.github.com/user
git clone https://oauth2:${GITLAB_TOKEN}@gitlab.com/ledgerly/api.git
sshpass -e ssh deploy@10.0.0.4 uptime
"""

OUTPUTS["traces"] = r"""
Traceback (most recent call last):
  File "/app/src/ledgerly/auth/tokens.py", line 61, in verify
    payload = jwt.decode(token, key=self.secret, algorithms=["HS256"])
  File "/usr/lib/python3.12/site-packages/jwt/api_jwt.py", line 211, in decode
    decoded = self.decode_complete(jwt, key, algorithms, options, verify=verify, detached_payload=detached_payload)
jwt.exceptions.InvalidSignatureError: Signature verification failed
botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the GetObject operation: The provided token has expired.
django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.
sqlalchemy.exc.OperationalError: (psycopg.OperationalError) connection failed: FATAL:  password authentication failed for user "ledgerly"
redis.exceptions.AuthenticationError: invalid username-password pair or user is disabled.
KeyError: 'api_key'
TypeError: login() missing 1 required positional argument: 'password'
TypeError: Cannot read properties of undefined (reading 'token')
    at TokenService.verify (/app/dist/auth/token.service.js:41:27)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async AuthGuard.canActivate (/app/dist/auth/auth.guard.js:22:21)
JsonWebTokenError: secret or public key must be provided
Error: secretOrPrivateKey must have a value
npm error code E401
npm error Incorrect or missing password.
npm error If you were trying to login, change your password, create an
npm error authentication token or enable two-factor authentication then
remote: Support for password authentication was removed on August 13, 2021.
remote: Invalid username or password.
fatal: Authentication failed for 'https://github.com/ledgerly/api.git/'
git@github.com: Permission denied (publickey).
mira@10.0.0.4: Permission denied (publickey,password).
sudo: a terminal is required to read the password; either use the -S option or configure an askpass helper
Error: Error acquiring the state lock: ConditionalCheckFailedException
Error: error configuring Terraform AWS Provider: no valid credential sources found
  with provider["registry.terraform.io/hashicorp/aws"],
panic: secret not found: billing/password
ActiveSupport::MessageEncryptor::InvalidMessage: ActiveSupport::MessageEncryptor::InvalidMessage
Missing `secret_key_base` for 'production' environment, set this string with `bin/rails credentials:edit`
{"error":"invalid_grant","error_description":"The refresh token has expired.","error_codes":[70008],"trace_id":"§uuid"}
{"error":{"code":401,"message":"Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.","status":"UNAUTHENTICATED"}}
time="2026-03-04T10:11:12Z" level=warning msg="token nearly expired" key=session:42 ttl=31s
10.0.0.9 - - [04/Mar/2026:10:11:12 +0000] "POST /oauth/token HTTP/1.1" 200 1187 "-" "okhttp/4.12.0"
10.0.0.9 - - [04/Mar/2026:10:11:14 +0000] "GET /reset-password?token=REDACTED HTTP/1.1" 302 0 "-" "Mozilla/5.0"
Mar 04 10:11:12 web1 sshd[2211]: Failed password for invalid user admin from 203.0.113.7 port 51122 ssh2
Mar 04 10:11:16 web1 sudo: mira : TTY=pts/0 ; PWD=/home/mira ; USER=root ; COMMAND=/usr/bin/passwd kim
Mar 04 10:12:00 web1 systemd[1]: Started Session 4021 of User mira.
Mar 04 10:12:07 web1 kernel: audit: type=1400 audit(1772619127.101:88): apparmor="ALLOWED" operation="open" profile="token-agent"
< HTTP/2 401
< www-authenticate: Bearer realm="ledgerly", error="invalid_token", error_description="token expired"
< set-cookie: theme=dark; Path=/; Max-Age=31536000
< x-request-id: §uuid
< etag: W/"§md"
< strict-transport-security: max-age=31536000
> accept-encoding: gzip, deflate, br
> authorization: Bearer [redacted]
"""

OUTPUTS["openapi"] = r"""
openapi: 3.1.0
components:
  securitySchemes:
    bearerAuth: { type: http, scheme: bearer, bearerFormat: JWT }
    apiKey:
      type: apiKey
      in: header
      name: X-API-Key
    oauth:
      type: oauth2
      flows:
        clientCredentials:
          tokenUrl: https://login.ledgerly.example/oauth/token
          scopes: { 'keys:read': Read API keys, 'secrets:write': Write secrets }
  schemas:
    Login:
      type: object
      required: [email, password]
      properties:
        email: { type: string, format: email }
        password:
          type: string
          format: password
          minLength: 12
          writeOnly: true
          description: The password in clear; never logged.
        token:
          type: string
          example: string
        secret: { $ref: '#/components/schemas/Secret' }
        api_key: { type: string, nullable: true, maxLength: 64 }
paths:
  /auth/token:
    post:
      operationId: createToken
      security: [{ bearerAuth: [] }]
      parameters:
        - { name: token, in: query, required: true, schema: { type: string } }
      responses:
        '401': { description: Wrong password or expired token }
"definitions": {"password": {"type": "string", "description": "User password"}, "token": {"type": ["string", "null"]}},
"properties": { "secret": { "type": "string", "title": "Secret", "maxLength": 128 }, "apiKey": { "$ref": "#/$defs/ApiKey" } },
type Mutation { login(email: String!, password: String!): AuthPayload! resetPassword(token: String!, password: String!): Boolean! }
message LoginRequest { string username = 1; string password = 2; optional string otp = 3; }
message Secret { bytes ciphertext = 1; string key_id = 2; }
"""

OUTPUTS["cron systemd"] = r"""
# m h dom mon dow command
*/15 * * * * /usr/local/bin/rotate-tokens --token-file /etc/ledgerly/token --quiet
0 3 * * 1 PGPASSFILE=/root/.pgpass pg_dump -Fc ledgerly > /backup/ledgerly.dump
@daily /usr/bin/certbot renew --quiet --deploy-hook "systemctl reload nginx"
[Unit]
Description=Ledgerly token refresher
After=network-online.target
[Service]
User=ledgerly
LoadCredential=api-token:/etc/credstore/api-token
LoadCredentialEncrypted=db-password:/etc/credstore.encrypted/db-password
Environment=TOKEN_FILE=%d/api-token
Environment="PASSWORD_STORE_DIR=/var/lib/pass"
EnvironmentFile=-/etc/default/ledgerly
ExecStart=/usr/bin/ledgerly serve --password-file ${CREDENTIALS_DIRECTORY}/db-password --listen :8080
SetCredential=theme:dark
KeyringMode=private
PrivateTmp=yes
SystemCallFilter=~@keyring
● systemd-ask-password-console.path - Dispatch Password Requests to Console Directory Watch
     Loaded: loaded (/usr/lib/systemd/system/systemd-ask-password-console.path; static)
"""

OUTPUTS["env dump"] = r"""
$ env | sort
COLORTERM=truecolor
DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus
GIT_ASKPASS=/usr/share/code/resources/app/extensions/git/dist/askpass.sh
GNOME_KEYRING_CONTROL=/run/user/1000/keyring
GPG_TTY=/dev/pts/3
HOME=/home/mira
INVOCATION_ID=§md
JOURNAL_STREAM=9:28841
KEYTIMEOUT=1
LESSOPEN=|/usr/bin/lesspipe %s
LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35:do=01;35
MAIL=/var/mail/mira
NVM_BIN=/home/mira/.nvm/versions/node/v22.6.0/bin
OLDPWD=/home/mira/src
PASSWORD_STORE_DIR=/home/mira/.password-store
PASSWORD_STORE_ENABLE_EXTENSIONS=true
PWD=/home/mira/src/ledgerly
SECRET_BACKEND=vault
SESSION_MANAGER=local/laptop:@/tmp/.ICE-unix/2104,unix/laptop:/tmp/.ICE-unix/2104
SSH_AUTH_SOCK=/run/user/1000/keyring/ssh
SSH_AGENT_PID=2188
SSH_CONNECTION=198.51.100.4 50222 10.0.0.4 22
TOKENIZERS_PARALLELISM=false
AWS_SDK_LOAD_CONFIG=1
AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token
GOOGLE_APPLICATION_CREDENTIALS=/home/mira/.config/gcloud/application_default_credentials.json
VAULT_ADDR=https://vault.ledgerly.internal:8200
VAULT_TOKEN_FILE=/home/mira/.vault-token
XAUTHORITY=/run/user/1000/gdm/Xauthority
XDG_SESSION_ID=2
_ZO_DATA_DIR=/home/mira/.local/share
MAX_THINKING_TOKENS=10000
NEXT_PUBLIC_AUTH_DOMAIN=ledgerly.eu.auth0.example
AUTH_SECRET_NAME=ledgerly/prod/auth
JWT_ALGORITHM=RS256
JWT_PUBLIC_KEY_PATH=/etc/ledgerly/jwt.pub
KEY_VAULT_NAME=kv-ledgerly-prod
TOKEN_AUDIENCE=api://ledgerly
API_KEY_ROTATION_DAYS=90
PASSWORD_RESET_URL=https://ledgerly.example/reset
"""

OUTPUTS["docs config"] = r"""
# Configuration

| Option | Default | Meaning |
|---|---|---|
| `password` | none | The password of the database user. Prefer `password_file`. |
| `token` | | Bearer token for the sink |
| `secret_key` | random at start | Signs cookies; at least 32 bytes |
| `api_key_header` | `X-API-Key` | Name of the header |
| `token_ttl` | `15m` | How long an access token lives |
| `--password` | (prompt) | Use `-` to read it from stdin |
| `client_secret` | required | From the developer console, looks like `cs_…` |

Set your API key:

    export ACME_API_KEY=your-api-key-here
    export ACME_API_KEY="<your key>"
    export OPENAI_API_KEY=sk-...
    export ANTHROPIC_API_KEY=sk-ant-xxxxxxxx
    export SECRET_KEY=changeme
    export DB_PASSWORD=********
    export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

Then log in with `ledgerly login --user NAME --password PASSWORD`, or put this into `~/.netrc`:

    machine api.ledgerly.example login NAME password PASSWORD

The password: at least 12 characters, one digit. Token: shown once, so copy it. Secret: never shown again.
If your password contains special characters, percent-encode them (`@` becomes `%40`).
Connection strings look like `postgres://USER:PASSWORD@HOST:5432/NAME` or `mysql://user:pass@host/db`.
Authentication: Basic. Authorization: see below. Cookie: session id. Key: value.
Rotate the key: `ledgerly keys rotate --key-id 17`. The old key: valid for one hour.
Use `Authorization: Bearer <access-token>` in every request; `Authorization: Basic <base64(user:password)>` is gone.
> **Note** the token is a *secret*: treat it like a password.
The signature is `HMAC-SHA256(secret, timestamp + "." + body)`, sent as `X-Signature: t=<timestamp>,v1=<hex>`.
To get a token: (1) open Settings, (2) choose API keys, (3) press "New key".
api_key: ${ACME_API_KEY}
api_key: !vault kv/acme#api_key
api_key: "{{ acme_api_key }}"
api_key: {{ .Values.acme.apiKey | quote }}
password: "{{ vault_db_password | mandatory }}"
password: !Sub '{{resolve:secretsmanager:${DbSecret}:SecretString:password}}'
password: <%= ENV['DB_PASSWORD'] %>
password: "%env(DB_PASSWORD)%"
password: secretref:db-password
password: null
password: ""
password: required
password: optional
password: ~
token: none
token_type: bearer
secret: false
key: primary
auth: oidc
passwordSecretRef: { name: api-db, key: password }
existingSecret: "api-db"
secretName: api-db
tokenReview: true
"""

OUTPUTS["claude md"] = r"""
# Notes for the agent
- Passwords come from `pass`, never paste one. Tokens live in `~/.config/ledgerly/token`.
- `make seed` creates users with generated passwords and prints none of them.
- The test token is created by `tests/helpers/token.ts`; do not hard-code tokens.
- Secrets: sealed with kubeseal; edit `secrets/*.sealed.yaml` only through `make seal`.
- API keys have the form `lk_<env>_<24 letters>`; the database holds sha256 of them.
- Use `pnpm test -- --grep "password reset"` to run that suite.
"""

OUTPUTS["chat auth"] = r"""
The login fails because the password is compared before it is hashed. I'll move `hashPassword` up.
I see: the token is read from the cookie, but the middleware wants it in the header.
can you check why my password reset mail has no token in it? the link is just /reset?token=
The secret is mounted at /run/secrets/jwt but the app reads JWT_SECRET. Let me fix the entrypoint.
why is the api key undefined in production? it works locally with the same key
password is wrong even though it's right, any idea? the user has password_changed_at = null
Looks like the token was issued by a different realm: the `iss` claim says login.ledgerly.example.
OK so the key point: passwords with a colon break the basic auth header, because we split on ":".
The password must be at least 12 characters; "correct horse" style phrases are fine.
my token expires after 15 minutes, i want it to be a day. where is the setting?
I rotated the secret yesterday, everyone is logged out now. is that expected?
Is the pass rate for password tests lower since the token change?
The passphrase is asked for by ssh-add, so run it in your own terminal.
let's rename `secret` to `signingKey` and `token` to `accessToken` everywhere
The error says "invalid token: expected string, got undefined", so the header was missing.
please add a "show password" button, and the label should be Kennwort in German
Passwort ist falsch obwohl es stimmt, kannst du dir login.ts anschauen?
le mot de passe est refusé depuis la mise à jour, tu peux regarder auth.py ?
la contraseña se guarda sin hash, hay que arreglarlo
パスワードのリセットが動きません。トークンの有効期限を確認してください。
пароль не принимается после обновления, посмотри пожалуйста
Token: the refresh token is now single-use. Password: no change. Secret: rotated monthly.
The user's password: stored as argon2id. The reset token: stored as sha256. The session key: in redis.
So the API key is: optional for reads, required for writes.
The new password is: not allowed to equal the last five.
What is the secret? The secret is that we never store it.
The password is stored in the keychain, the token is stored in a cookie.
Your token is invalid or has expired. Your password is about to expire. Your key is missing.
I set the password to the value from the vault and the token to an empty string.
set the secret to whatever `openssl rand -hex 32` prints
the password is the same as in staging, ask Jonas if you don't have it
user: mira, password: see 1Password
login with admin and the password from the onboarding mail
Should the PIN be 4 or 6 digits? The pin is checked in verify_pin().
The encryption key is derived with scrypt from the passphrase: N=32768, r=8, p=1.
Yes, `token` is null there. Token null means the user logged out; token "" means never logged in.
Here is the summary: token handling rewritten, password rules unchanged, secrets now come from Vault.
"""

OUTPUTS["pr text"] = r"""
## Summary
- Password reset: tokens are single-use now (`reset_tokens.used_at`)
- Token refresh: rotation with reuse detection
- Secret scanning: enabled for the repository, 0 alerts
- API keys: hashed at rest, prefix shown (`lk_live_ab…`)

## Test plan
- [x] unit: `pnpm test auth`
- [ ] manual: wrong password three times -> locked for 15 min
- [ ] manual: key=value pairs in query strings survive (`?key=abc&sort=-created`)

Closes #812. Supersedes #790. Breaking: `AUTH_TOKEN` is renamed to `LEDGERLY_TOKEN`.
"""

OUTPUTS["diffs"] = r"""
diff --git a/src/auth/token.ts b/src/auth/token.ts
index §short..§short 100644
--- a/src/auth/token.ts
+++ b/src/auth/token.ts
@@ -18,9 +18,12 @@ export class TokenService {
-  private readonly secret = config.get('JWT_SECRET');
+  private readonly keys = new KeySet(config.get('JWT_SECRET'), config.get('JWT_SECRET_PREVIOUS'));
-    const token = sign(payload, this.secret);
+    const token = sign(payload, this.keys.current, { keyid: this.keys.currentId });
-    password: string,
+    password: SecretString,
-DB_PASSWORD=
+DB_PASSWORD_FILE=/run/secrets/db
-      API_KEY: ${API_KEY}
+      API_KEY: ${API_KEY:?}
"""

OUTPUTS["html css"] = r"""
<form action="/login" method="post" class="auth-form" id="login">
<input name="user[password]" type="password" required minlength="12" data-controller="password-visibility">
<a href="/users/password/new?locale=de">Forgot your password?</a>
<a href="https://ledgerly.example/docs/api-keys#create-a-key">Create a key</a>
<link rel="stylesheet" href="/assets/application-§digest.css" data-turbo-track="reload">
<option value="secret">Secret</option><option value="token">Token</option>
<svg id="icon-key" viewBox="0 0 24 24"><path d="M12.65 10A5.99 5.99 0 0 0 7 6c-3.31 0-6 2.69-6 6s2.69 6 6 6a5.99 5.99 0 0 0 5.65-4H17v4h4v-4h2v-4H12.65z"/></svg>
.token.keyword { color: #07a; } .token.string { color: #690; } .password-meter { width: calc(100% - var(--token-gap)); }
"""

OUTPUTS["misc ids"] = r"""
session_id: §uuid
X-Request-Id: §uuid
commit §sha
sha256:§digest
ETag: "§md-12"
md5 §md  release.tar.gz
§digest  ledgerly-1.42.0-linux-amd64.tar.gz
arn:aws:lambda:eu-central-1:481516234200:function:token-authorizer:17
https://www.notion.so/ledgerly/Token-rotation-§md
https://ledgerly.sentry.io/issues/5512345678/events/§md/
https://console.aws.amazon.com/secretsmanager/secret?name=ledgerly/prod/db-password&region=eu-central-1
https://github.com/ledgerly/api/blob/§sha/src/auth/token.ts#L41-L77
https://unpkg.com/browse/jwt-decode@4.0.0/build/jwt-decode.js
https://login.ledgerly.example/authorize?response_type=code&client_id=ledgerly-web&scope=openid%20profile&state=STATE&code_challenge_method=S256
s3://ledgerly-exports/2026/03/04/§uuid.parquet
-----BEGIN CERTIFICATE-----
-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
-----END PUBLIC KEY-----
known_hosts: github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl
UPC 4006381333931 ISBN 978-3-16-148410-0 IBAN DE89 3704 0044 0532 0130 00
"""

OUTPUTS["binary hex"] = r"""
00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............
00000010: 0300 3e00 0100 0000 4010 0000 0000 0000  ..>.....@.......
00000020: 7061 7373 776f 7264 3a20 0025 7300 0000  password: .%s...
0x0000:  4500 0034 1c46 4000 4006 b1e6 c0a8 0105
  4 D/home/mira/src/token
-rw-------  1 mira mira   411 Mar  4 10:11 id_ed25519
-rw-r--r--  1 mira mira    98 Mar  4 10:11 id_ed25519.pub
-rw-r-----  1 root ssl  1704 Mar  4 10:11 privkey.pem
drwxr-xr-x  4 mira mira  4096 Mar  4 10:11 secrets
total 48
./src/auth/password.ts
./secrets/db_password.txt.age
./config/credentials.yml.enc
./charts/api/templates/secret.yaml
"""

OUTPUTS["help text"] = r"""
usage: ledgerly login [-h] [--user USER] [--password PASSWORD] [--token TOKEN] [--api-key KEY]
  --password PASSWORD   password (default: prompt)
  --password-stdin      read the password from stdin
  --token TOKEN         use this token instead of a password
  --api-key KEY         API key, or $LEDGERLY_API_KEY
  --secret-name NAME    name of the secret in the store (default: ledgerly)
  -k, --key FILE        private key file [default: ~/.ssh/id_ed25519]
  -p, --passphrase-file FILE
Commands:
  token      create, list and revoke tokens
  secret     manage secrets
  passwd     change your password
Examples:
  ledgerly token create --name ci --scope keys:read --ttl 30d
  ledgerly secret set db-password --from-file ./pw.txt
  ledgerly login --password-stdin < pw.txt
mysql: [Warning] Using a password on the command line interface can be insecure.
WARNING! Your password will be stored unencrypted in /home/mira/.docker/config.json.
Password:
Password for mira:
[sudo] password for mira:
Enter passphrase for key '/home/mira/.ssh/id_ed25519':
New password: Retype new password: passwd: password updated successfully
? Enter your API key: [hidden]
? Password: [input is masked]
✔ Token saved to keychain
Enter PIN for 'YubiKey': ****
"""

OUTPUTS["json config"] = r"""
{
  "editor.tokenColorCustomizations": { "comments": "#6a9955" },
  "security.workspace.trust.enabled": false,
  "github.copilot.enable": { "*": true, "dotenv": false },
  "auth": { "type": "oauth2", "tokenUrl": "/token", "scopes": ["read"] },
  "mcpServers": { "github": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${GITHUB_TOKEN}" } } },
  "permissions": { "deny": ["Read(./.env)", "Read(./secrets/**)", "Bash(printenv*)"] },
  "password": null,
  "token": "",
  "secret": { "name": "api-db", "version": "latest" },
  "apiKey": "$API_KEY",
  "keys": ["id", "name", "createdAt"],
  "key": "value",
  "tokenType": "Bearer",
  "token_count": 1532,
  "input_tokens": 12, "cache_read_input_tokens": 180233, "output_tokens": 411,
  "passwordPolicy": "strong",
  "passwordless": true,
  "keyboard": "de-latin1-nodeadkeys",
  "primaryKey": "accountId",
  "accessKeyId": "from-profile",
  "secretsManager": "aws",
  "cookieName": "ledgerly_session",
  "credentialSource": "Ec2InstanceMetadata"
}
"""

OUTPUTS["mailmap yaml ansible"] = r"""
- name: set the password of the application user
  ansible.builtin.user:
    name: ledgerly
    password: "{{ ledgerly_password | password_hash('sha512') }}"
    update_password: on_create
  no_log: true
- name: read token
  ansible.builtin.slurp: { src: /etc/ledgerly/token }
  register: token_file
- ansible.builtin.uri:
    url: https://api.ledgerly.example/v1/keys
    headers: { Authorization: "Bearer {{ token_file.content | b64decode | trim }}" }
ok: [web1] => {"changed": false, "msg": "password unchanged", "append": false, "password": "NOT_LOGGING_PASSWORD", "uid": 1001}
fatal: [web2]: FAILED! => {"censored": "the output has been hidden due to the fact that 'no_log: true' was specified for this result"}
db_password: !vault |
          $ANSIBLE_VAULT;1.1;AES256
"""

OUTPUTS["nginx etc"] = r"""
proxy_set_header Authorization $http_authorization;
proxy_set_header X-Auth-Token $cookie_token;
ssl_certificate_key /etc/letsencrypt/live/ledgerly.example/privkey.pem;
ssl_password_file /etc/nginx/pass;
auth_basic "Password required";
auth_basic_user_file /etc/nginx/.htpasswd;
limit_req_zone $binary_remote_addr zone=token:10m rate=5r/s;
map $arg_token $has_token { default 1; "" 0; }
PasswordAuthentication no
PubkeyAuthentication yes
AuthorizedKeysFile .ssh/authorized_keys
HostKey /etc/ssh/ssh_host_ed25519_key
IdentityFile ~/.ssh/id_ed25519
requirepass ${REDIS_PASSWORD}
password_encryption = scram-sha-256
host    all   all   10.0.0.0/8   scram-sha-256
auth = plain login
passdb { driver = pam }
credential.helper=store
credential.https://github.com.username=mira
[credential] helper = !/usr/bin/gh auth git-credential
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
[pypi] username = __token__
"""

OUTPUTS["coverage tables"] = r"""
Name                              Stmts   Miss  Cover   Missing
src/auth/password.py                 61      2    97%   44, 81
src/auth/secret.py                   40      0   100%
src/auth/token.py                   112      9    92%   31-33, 77, 90-94
TOTAL                              4211    301    93%
| Test | Password | Token | Result |
|------|----------|-------|--------|
| login ok | valid | none | 200 |
| login bad | invalid | none | 401 |
| refresh | n/a | expired | 401 |
| revoke | n/a | missing | 400 |
┌─────────┬────────────┬──────────────┐
│ (index) │ key        │ tokenCount   │
├─────────┼────────────┼──────────────┤
│ 0       │ 'prompt'   │ 1532         │
│ 1       │ 'response' │ 411          │
└─────────┴────────────┴──────────────┘
  password     token      secret      count
0     weak   expired     missing         14
1   strong     valid     present        211
"""

OUTPUTS["python repl"] = r"""
>>> user.password
'pbkdf2_sha256$...'
>>> token
<Token: refresh expires=2026-03-04>
>>> config.secret
SecretStr('**********')
>>> Settings().model_dump()
{'debug': True, 'secret_key': SecretStr('**********'), 'token_ttl': 900, 'password_min_length': 12}
>>> os.environ.get("API_KEY") is None
True
{'password': <django.forms.fields.CharField object at 0x7f2b4c1e9d90>, 'token': None}
Credentials(username='mira', password=<hidden>, token=None)
User { id: 42, email: 'kim@example.org', password: [Redacted], token: null }
#<User id: 42, email: "kim@example.org", password_digest: [FILTERED], api_token: nil>
Config { api_key: Some("***"), password: Secret([REDACTED alloc::string::String]) }
map[password:<nil> token: username:mira]
"""

OUTPUTS["rails i18n"] = r"""
de:
  simple_form:
    hints:
      defaults:
        password: Mindestens 8 Zeichen
        current_password: Bitte gib aus Sicherheitsgründen dein Passwort ein
        otp_attempt: Gib den Code deiner App ein
    labels:
      defaults:
        confirm_new_password: Neues Passwort bestätigen
        confirm_password: Passwort bestätigen
        new_password: Neues Passwort
        password: Passwort
        api_token: API-Schlüssel
        secret: Geheimnis
        access_token: Zugriffstoken erneuern
sv:
  change_password: byt lösenord
  password: Lösenord
  new_password: Nytt lösenord
  regenerate_token: Skapa ny åtkomsttoken
  client_secret: Klienthemlighet
fi:
  password: Salasana
  new_password: Uusi salasana
  confirm_password: Vahvista salasana
  regenerate_token: Luo pääsytunnus uudelleen
  client_secret: Asiakassalaisuus
it:
  password: Password
  change_password: modifica la tua password
  invalid_password: Password non valida
  regenerate_token: Rigenera il token di accesso
  secret: Segreto del client
ro:
  password: Parolă
  new_password: Parolă nouă
  secret: Secretul clientului
hr:
  password: Lozinka
  new_password: Nova lozinka
sl:
  password: Geslo
  invalid_password: Neveljavno geslo
  secret: Skrivnost odjemalca
eu:
  password: Pasahitza
  change_password: aldatu zure pasahitza
  client_secret: Bezeroaren sekretua
cy:
  password: Cyfrinair
  confirm_password: Cadarnhau cyfrinair
ga:
  password: Pasfhocal
lv:
  password: Parole
  secret: Klienta noslēpums
et:
  password: Salasõna
  new_password: Uus salasõna
is:
  password: Lykilorð
el:
  password: Συνθηματικό
  new_password: Νέο συνθηματικό
uk:
  password: Пароль
  change_password: змініть свій пароль
ko:
  password: 암호
  secret: 클라이언트 비밀
th:
  password: รหัสผ่าน
he:
  password: סיסמה
hi:
  password: पासवर्ड
"""

OUTPUTS["flutter arb po"] = r"""
  "passwordLabel": "Mot de passe",
  "passwordHint": "Au moins 12 caractères",
  "newPassword": "Nouveau mot de passe",
  "apiKey": "Clé d’accès",
  "secretKey": "Clé secrète",
  "token": "Jeton d’accès",
  "confirmPassword": "Bekreft passordet",
  "oldPassword": "Gammelt passord",
  "passphrase": "Adgangssætning",
  "masterPassword": "Hoofdwachtwoord",
  "masterPasswordHint": "Hoofdwachtwoordhint",
  "password": "Şifre",
  "password": "Heslo",
  "password": "Fjalëkalimi",
  "password": "Slaptažodis",
  "password": "Passord",
  "password": "Kalmarsõna",
  "password": "Mật mã",
  "password": "Kodeord",
msgid "Enter your password"
msgstr "Geben Sie Ihr Kennwort ein"
msgid "Token"
msgstr "Ficha"
"""

OUTPUTS["angular vue svelte"] = r"""
<input type="password" [(ngModel)]="password" [required]="!token" (change)="setPassword($event)">
<app-secret-form [secret]="selected$ | async" [password]="form.value.password" (saved)="reload()"></app-secret-form>
<mat-label>{{ 'LOGIN.PASSWORD' | translate }}</mat-label>
<p-password formControlName="password" [feedback]="false" [toggleMask]="true" placeholder="Password"></p-password>
<ApiKeyRow :key="key.id" :api-key="key" :token="token" @revoke="revoke(key)" />
<Password v-model="password" :feedback="false" toggleMask :inputProps="{ autocomplete: 'current-password' }" />
<input bind:value={password} type="password" placeholder="Password" on:input={check} />
{#each tokens as token (token.id)}<TokenRow {token} />{/each}
<form:password path="password" showPassword="false"/>
<asp:TextBox ID="txtPassword" runat="server" TextMode="Password" />
"""

OUTPUTS["go types"] = r"""
type OAuth2TokenSource interface { Token() (*oauth2.Token, error) }
type X509SecretProvider struct{ secretLister corev1listers.SecretLister }
const OAuth2SessionTypeRefreshToken OAuth2SessionType = "refresh"
func (k *P256PrivateKey) Public() crypto.PublicKey { return k.privateKey.Public() }
func NewV1SecretKeySelector(name, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
token: oauth2Config.TokenSource(ctx, tok),
Password: user.Spec.PasswordSecretRef.Name,
AccessToken: sess.OAuth2Token.AccessToken,
privateKey: ed25519Signer.privateKey,
secret: base64Decoded.secretBytes,
authToken = http2Client.authTokenProvider
tokenSource := sts.NewStsTokenSource(ctx, sts1Config)
passwordHash: argon2Params.Hash(password),
hmacKey := deriveKeyV2(masterKey, salt)
apiKey: i18nConfig.apiKeyHeaderName,
key: e2eKeyStore.currentKey,
"""

OUTPUTS["docs refs"] = r"""
[secrets]: ../guides/secrets.md#rotation
[api-key]: ./api-keys.html#create
[token]: https://datatracker.ietf.org/doc/html/rfc6750 "Bearer tokens"
`--token`, `--secret` and `--api-key` options accept file paths
Use `--password` interactively; `--password-stdin` otherwise.
The content key is AES256_GCM_SIV by default; the signing key is ED25519.
A token is a string; a secret is an object; a password is a SecretStr.
| secret | `client_secret_post` | public | confidential |
| api_key | string | no | The key of the account |
- **password** - *required* - the user's password
- `token` (string, optional) – bearer token, see [auth](auth.md)
.. option:: --token TOKEN
   :param password: the password, or ``None``
   :type password: str | None
@param {string} password - The password to check
@param token the token to verify, never {@code null}
 * @property string $api_token
/// The secret key used for signing; see `SecretKey::generate`.
Raises ``AuthenticationError`` if the password is wrong.
Default value of `secret`: `None`. Type of `token`: `str`.
We support 1Password (CLI 2) and Bitwarden; 1Password Connect is optional.
"""

OUTPUTS["composer audit"] = r"""
        "typo3/cms-change-password": "<10.4.37|>=11,<11.5.28",
        "league/oauth2-server": ">=8.3.2,<8.4.2|==8.5.1",
        "lcobucci/jwt": ">=3.4,<3.4.6|>=4,<4.0.4|>=4.1,<4.1.5",
        "tymon/jwt-auth": "^2.1",
        "paragonie/random-token": "~1.0 || ^2.0",
jsonwebtoken  <=8.5.1
Severity: moderate
jsonwebtoken unrestricted key type could lead to legacy keys usage - https://github.com/advisories/GHSA-8cf7-32gw-wr33
"""

OUTPUTS["helm go templates"] = r"""
{{- if .Values.auth.existingSecret }}
  secretName: {{ .Values.auth.existingSecret | default (printf "%s-auth" (include "api.fullname" .)) }}
  password: {{ .Values.auth.password | default (randAlphaNum 24) | b64enc | quote }}
  token: {{ required "auth.token is required" .Values.auth.token | b64enc }}
  checksum/config: {{ include (print $.Template.BasePath "/configmap.yaml") . | sha256sum }}
  rollme: {{ randAlphaNum 5 | quote }}
checksum/secrets: §digest
checksum/api-secret: §digest
"""

OUTPUTS["metrics logs"] = r"""
auth_token_refresh_total{result="ok",client="web"} 1532
auth_password_failures_total{reason="wrong_password"} 41
llm_tokens_total{model="opus",kind="cache_read"} 1.80233e+06
secret_rotation_age_seconds{secret="ledgerly/prod/db-password"} 86400
INFO  token bucket refilled key=tenant:42 tokens=100/100
DEBUG cache miss key=user:42:profile:v3 ttl=300
WARN  password hash outdated algo=bcrypt cost=10 want=12 user_id=42
ERROR secret sync failed name=api-db namespace=api reason=NotFound attempt=3
ts=2026-03-04T10:11:12Z caller=auth.go:61 level=info msg="token issued" kid=2026-03-a exp=3600
[12:04:11] token: <class 'NoneType'> secret: <class 'str'> key: <class 'bytes'>
"""

OUTPUTS["eslint tsc"] = r"""
src/auth/token.ts(41,9): error TS2322: Type 'string | undefined' is not assignable to type 'AccessToken'.
src/auth/password.ts(12,3): error TS2345: Argument of type 'null' is not assignable to parameter of type 'Password'.
  12:7   error    'apiSecretKey' is assigned a value but never used    @typescript-eslint/no-unused-vars
  31:15  warning  Possible hardcoded password: property 'password'     sonarjs/no-hardcoded-passwords
  44:3   error    Unexpected console statement: token                  no-console
src/auth.py:12: error: Argument "password" to "login" has incompatible type "str | None"; expected "SecretStr"  [arg-type]
src/auth.py:31:5: S105 Possible hardcoded password assigned to: "token_url"
src/keys.rs:14:9: warning: field `api_key` is never read
"""

OUTPUTS["jupyter sarif"] = r"""
  {"cell_type": "code", "source": ["token = tokenizer.encode(text)\n", "len(token)"], "outputs": [{"text": ["1532"]}]},
  {"ruleId": "js/hardcoded-credentials", "message": {"text": "The hard-coded value is used as password."}, "level": "warning"},
  "secretScanning": {"enabled": true, "pushProtection": "on"},
  "credentials": {"type": "OIDC", "provider": "github"},
"""

OUTPUTS["iam auth"] = r"""
$ kubectl auth can-i get secrets --as=system:serviceaccount:api:api
yes
$ aws iam get-account-password-policy
{ "PasswordPolicy": { "MinimumPasswordLength": 14, "RequireSymbols": true, "MaxPasswordAge": 90 } }
$ aws sts get-caller-identity
$ gh api user/keys --jq '.[].title'
mira-laptop
$ az ad app credential list --id §uuid --query '[].{hint:hint,end:endDateTime}'
[ { "end": "2026-12-01T00:00:00Z", "hint": "Kx4" } ]
$ gcloud iam service-accounts keys list --iam-account ci@ledgerly.iam.gserviceaccount.com
KEY_ID                                    CREATED_AT            EXPIRES_AT
§sha  2026-01-04T10:11:12Z  9999-12-31T23:59:59Z
$ vault token lookup -format=json | jq .data.policies
["default","ci"]
$ vault status
Seal Type       shamir
Initialized     true
Total Shares    5
Key Shares      5
"""

OUTPUTS["chat2"] = r"""
kannst du den Token aus dem Header lesen statt aus dem Cookie?
warum ist das Passwort nach dem Speichern leer?
peux-tu ajouter un champ pour la clé API dans les réglages ?
la clave de API no se guarda, ¿puedes mirar settings.py?
o token expira depois de 15 minutos, quero que dure um dia
la password viene salvata in chiaro, usa argon2id
żeton wygasa za szybko, sprawdź proszę
トークンが null になるのはなぜ？
密码太短时提示不对，改一下
비밀번호 확인 필드를 추가해 주세요
the secret was rotated, the token was revoked, the password was changed
the password was reset by admin2 yesterday, see AUTH-1204
token is undefined on the first render, and null after logout
the key is generated by uuid4 in models/api_key.py
password is hashed with bcrypt(12) and the token with sha256
the token is passed to worker_pool2 via Context, not via env
the old token works, the new token doesn't
use the token from session2 instead of session1 in that test
change the password label from Password to Passphrase
rename the secret from jwt-secret to jwt-signing-key
move the token from localStorage to a cookie
we changed the key from user_id to account_id2
copy the password from the vault to the clipboard
the key I used for sorting is created_at
the token you see there is a placeholder
the password we ask for is the LDAP one
which key is now used for caching? it is now the tenant id
the token is now optional
the password is currently required
the secret is still mounted
"""

OUTPUTS["asserts"] = r"""
assert_equal "Passwort ändern", page.title
expect(screen.getByLabelText('Mot de passe')).toBeInTheDocument();
t.Run("token=expired", func(t *testing.T) {
XCTAssertEqual(field.placeholder, "Contraseña")
it('masks the api key as sk-…abcd', () => {
expect(mask('x'.repeat(32))).toBe('••••••••');
assert token.kind is TokenKind.STRING and token.value == "hello"
self.assertNotIn("password", response.data)
expect(logger.info).not.toHaveBeenCalledWith(expect.stringContaining('secret'));
given().auth().preemptive().basic(user, password).when().get("/me")
"""

OUTPUTS["constructors"] = r"""
const token = new Token("identifier", 3, 7);
const secret = Secret.from("api-db");
token := lexer.NewToken("IDENT", pos)
key = Key.of("user", "id")
secret = client.Secret.from("projects/p1/secrets/db2/versions/3")
password = form["password"].encode("latin-1")
token = params.get("access_token").decode("utf-8")
key := []byte("users")
key = bytes("session", "utf-8")
const key = Buffer.from("users2");
String token = String.valueOf(counter);
let key = String::from("content-type");
auth = new Auth("github-oauth2");
let token = Token::new("->", Span::new(3, 5));
secret = Secret.of("kv2/data/api#token")
"""
