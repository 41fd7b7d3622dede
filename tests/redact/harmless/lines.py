"""Lines of code, configuration, output and prose that mention secrets but contain none."""

from __future__ import annotations

LINES = r"""
const token = getToken()
const token = await getAccessToken({ scope: "read" });
let password = document.getElementById("password").value;
password=getPwdXyz()
password = this.dbPwd
password: "wachtwoord-bevestigen1"
longopt_pat = r'[a-zA-Z](?:[a-zA-Z0-9-]*)'
token: /Users/JohnDoe/Projects2/App
token=/Library/Java/JavaVirtualMachines/Jdk17/Contents
password: string
password: string;
password?: string
password: str
password: str | None = None
password: Optional[str] = None
def login(self, username: str, password: str) -> Token:
function login(username, password) {
if (password === other) return false
if password != confirm_password:
if (!password) throw new Error("Password is required")
assert token == expected_token
self.password = password
this.password = password;
user.password = hash_password(password)
token = request.headers.get("Authorization")
token = request.headers["Authorization"].split(" ")[1]
const apiKey = process.env.API_KEY
const apiKey = process.env.API_KEY || "";
api_key = os.environ["API_KEY"]
api_key = os.getenv("OPENAI_API_KEY")
api_key=os.environ.get("API_KEY", "")
password = config.get("database", "password")
password = getpass.getpass("Password: ")
password = input("Enter your password: ")
secret = settings.SECRET_KEY
SECRET_KEY = env("SECRET_KEY")
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY")
token: Token
tokens: Token[] = []
tokens = tokenizer.encode(text)
token = tokens[i]
token = lexer.next_token()
while (token != EOF) {
case TOKEN_STRING: return parseString(token);
type Token = { kind: TokenKind; value: string }
interface Props { token: string; apiKey?: string }
private final String password;
private String password;
@Value("${db.password}") private String password;
@Column(name = "password") private String password;
String password = System.getenv("DB_PASSWORD");
password := os.Getenv("DB_PASSWORD")
token, err := jwt.Parse(tokenString, keyFunc)
func (t *Token) String() string {
var ErrInvalidToken = errors.New("invalid token")
let token = &self.tokens[self.pos];
pub struct Token { pub kind: TokenKind }
const TOKEN_KEY = "access_token";
const PASSWORD_FIELD = "password";
PASSWORD_MIN_LENGTH = 8
MAX_TOKENS = 4096
max_tokens=4096
max_tokens: 8192,
"max_tokens": 1024
tokens_used: 15234
token_count = 128000
total_tokens = prompt_tokens + completion_tokens
"input_tokens": 12345, "output_tokens": 678
TOKEN_EXPIRY_SECONDS=3600
ACCESS_TOKEN_EXPIRE_MINUTES = 30
token_url = "https://auth.example.org/oauth/token"
tokenUrl: 'https://login.example.org/oauth2/v2.0/token'
TOKEN_ENDPOINT=https://auth.example.org/token
password_file: /run/secrets/db_password
POSTGRES_PASSWORD_FILE=/run/secrets/postgres-passwd
secretName: app-tls
secretKeyRef: {name: db, key: password}
existingSecret: my-release-postgresql
imagePullSecrets:
secrets: inherit
token: ${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
NODE_AUTH_TOKEN: ${{ secrets.NPM_TOKEN }}
password: ${DB_PASSWORD}
password: ${DB_PASSWORD:-postgres}
password = "${var.db_password}"
password = var.db_password
db_password = data.aws_secretsmanager_secret_version.db.secret_string
--password "$DB_PASSWORD"
--password $PASSWORD
-u "$USER:$PASS"
curl -H "Authorization: Bearer $TOKEN" https://api.example.org
curl -H "Authorization: Bearer ${TOKEN}" https://api.example.org
headers: { Authorization: `Bearer ${token}` }
headers={"Authorization": f"Bearer {token}"}
"Authorization": "Bearer " + token
Authorization: Bearer <token>
Authorization: Bearer YOUR_API_KEY
X-Api-Key: <your-api-key>
api_key="your-api-key-here"
api_key = "YOUR_API_KEY"
apiKey: "xxxxxxxxxxxxxxxxxxxx"
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
ANTHROPIC_API_KEY=<your key>
export API_TOKEN=...
DB_PASSWORD=changeme
DB_PASSWORD=
DB_PASSWORD=********
password: "********"
password: changeme
password: "<redacted>"
password: [REDACTED]
PASSWORD=password
"password": "password"
"password": "Password"
"password": "Enter your password"
password: 'required|string|min:8'
password: yup.string().required("Password is required").min(8)
password: z.string().min(8)
password = models.CharField(max_length=128)
password_hash = Column(String(255))
token = models.CharField(max_length=40, unique=True)
password = forms.CharField(widget=forms.PasswordInput)
<input type="password" name="password" placeholder="Password" />
<input id="token" value="" />
<label for="password">Password</label>
<PasswordInput value={password} onChange={setPassword} />
const [password, setPassword] = useState("");
const [token, setToken] = useState(null)
expect(screen.getByLabelText("Password")).toBeInTheDocument()
describe("token refresh", () => {
it("returns 401 when the token is expired", async () => {
test_password_is_hashed PASSED
tests/test_token.py::test_refresh_token_rotation PASSED [ 12%]
from secrets import token_hex
import { tokenize } from "./tokenizer"
import jwt from "jsonwebtoken"
secrets.token_urlsafe(32)
crypto.randomBytes(32).toString("hex")
jwt.sign(payload, secret, { expiresIn: "1h" })
jwt.decode(token, settings.SECRET_KEY, algorithms=["HS256"])
bcrypt.compare(password, user.passwordHash)
validate_password(password, user=user)
key = f"user:{user_id}:session"
cache_key = "user_profile_v2"
primary_key=True
key={item.id}
foreign_key: user_id
sort_key = "created_at"
partitionKey: "tenantId"
map.get(key)
keys: ["id", "name", "email2"]
for key, value in d.items():
Object.keys(obj).forEach(key => {
apiKeyHeader = APIKeyHeader(name="X-API-Key")
security: [{ apiKey: [] }]
securitySchemes: { bearerAuth: { type: http, scheme: bearer } }
"scheme": "bearer", "bearerFormat": "JWT"
cookie: { httpOnly: true, secure: true, maxAge: 86400000 }
session.cookie.secure = true
res.cookie("token", token, { httpOnly: true })
Cookie: session=<session-id>
cookies = request.cookies.get("session")
document.cookie.split("; ")
csrfmiddlewaretoken
{% csrf_token %}
next_page_token = response.get("nextPageToken")
"nextToken": null
pageToken: undefined
CancellationToken cancellationToken = default
cancellationToken: source.Token
var tokenSource = new CancellationTokenSource();
--token-file /var/run/token
--secret-name app-config
--key-vault-name kv-prod-01
-p 8080:80
docker run -p 5432:5432 -u 1000:1000 postgres:16
mysql -u root -p
mysql -h 127.0.0.1 -P 3306 -u root -p app
ssh -p 2222 deploy@host.example.org
mkdir -p build/output2
grep -rn "password" src/
rg "api_key|secret" --type py
sed -i 's/password=.*/password=REDACTED/' .env
echo "$PASSWORD" | docker login -u ci --password-stdin
openssl rand -base64 32
kubectl get secret db -o jsonpath='{.data.password}' | base64 -d
gcloud secrets versions access latest --secret=db-password
aws secretsmanager get-secret-value --secret-id prod/db
vault kv get -field=password secret/db
op://vault/item/password
password: !vault |
password: ENC[AES256_GCM,data:abc]
ref+vault://secret/db#password
arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf
{{ .Values.auth.password }}
{{ password }}
password: {{ .Values.password | quote }}
%(password)s
:password => params[:password]
params.require(:user).permit(:email, :password, :password_confirmation)
<%= f.password_field :password %>
$password = $_POST['password'];
$request->input('password')
echo $row['token'];
SELECT id, password FROM users WHERE token = ?
UPDATE users SET password = $1 WHERE id = $2
password VARCHAR(255) NOT NULL
ALTER TABLE users ADD COLUMN token text;
CREATE INDEX idx_token_hash ON sessions (token_hash);
.password-field { color: #a1b2c3; }
--color-token-primary: #1f2937;
design-tokens: 12px 24px
class="token keyword"
<span class="token string">"abc"</span>
TokenKind::Ident => parse_ident2(),
Token(type=NAME, value='x1', start=(1, 0))
SyntaxError: Unexpected token } in JSON at position 42
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
Error: Invalid token at line 12
fatal: Authentication failed for 'https://github.com/org/repo.git/'
remote: Support for password authentication was removed on August 13, 2021.
WARN  password authentication is disabled
auth: disabled
auth: oauth2
auth_type: basic
author: Jane Doe <jane@example.org>
authors = ["Jane <jane@example.org>"]
authority: https://login.example.org
Basic usage
basic authentication
Bearer authentication
bearer token
Password strength: weak
Password: required
password - the password of the user (min. 8 characters)
@param password the password to check
:param token: the access token (JWT)
:param api_key: API key, see https://docs.example.org/keys
* `api_key` - (Required) The API key.
- `token` (string): your token
| `password` | string | The user's password |
| token | string | required |
| Token | Count | 1234 |
    at Process.token (/home/dev/app/node_modules/author/dist/array.js:53:28)
    at Shell.session (file:///app/node_modules/policy/dist/author.js:13:58)
    at async Password.verify (C:\app\src\auth\password2.ts:10:3)
WARN metric[284]: refresh token: cluster=1340 theme=dark
Token usage: 45.2k/200k tokens (23%)
token: 1234 tokens used
tokens: 12.3k in, 4.5k out
cost: $0.0123 (1,234 tokens)
secret: true
secret = False
sensitive = true
token = 0
token = nil
password = None
password = null;
password=password
login(username=username, password=password)
connect(host=host, password=self._password)
Client(api_key=settings.api_key, token=token2)
User(password=make_password("x"))
password2: formData.password2
new_password1 != new_password2
sk-learn==1.5.2
pass: 42, fail: 0
pass=12 fail=3 skip=1
2 passed, 1 failed
bypass = True
compass: north
passport.use(new LocalStrategy())
PWD=/home/dev/project
OLDPWD=/home/dev
cwd: /home/dev/secret-project/token-service
/home/dev/.config/app/credentials.json
~/.aws/credentials
./scripts/rotate-token.sh
src/auth/token2.ts:45:12
https://example.org/reset-password?next=/login
https://example.org/docs/api-key#authentication
https://user@example.org/path
http://localhost:3000/auth/callback
ssh://git@github.com/org/repo.git
git@github.com:org/repo.git
postgres://localhost:5432/app
postgres://user:password@localhost:5432/app
postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app
mongodb://<username>:<password>@cluster0.example.net
redis://localhost:6379/0
https://registry.npmjs.org/@scope/token-utils/-/token-utils-1.2.3.tgz
https://example.org:8443/a@b/c
amqp://guest:guest@localhost:5672
http://proxy.example.org:3128
sha512-crypt
ETag: W/"5d8c72a5edda8"
If-None-Match: "686897696a7c876b7e"
Content-Length: 348
User-Agent: Mozilla/5.0 (X11; Linux x86_64)
Cache-Control: max-age=31536000, immutable
keep-alive: timeout=5
WWW-Authenticate: Bearer realm="api", error="invalid_token"
Accept: application/vnd.api+json;version=2
The password is required to continue.
The token is valid for 24h.
your token is stored in the keychain
the secret is to keep it simple
I changed the password field to use bcrypt2
set the API key in the settings, then restart
Each token costs about 0.25 cents
ran 3 tests for the access_token module in 0.42s
password was changed on 2026-01-15
The api key is read from ~/.config/tool/key2.json
secret santa 2024
use `--password` or `PASSWORD`
Key: Value
Key: Ctrl+Shift+P
key: Enter
hotkey: cmd+k
license: Apache-2.0
signature: (a: int, b: str) -> None
salt: 16
salt = os.urandom(16)
nonce: 12
otp: 6
webhook: https://example.org/hooks/deploy
dsn: sqlite:///app.db
DATABASE_URL=sqlite:///db.sqlite3
SENTRY_DSN=
connection string: see docs
""".strip().splitlines()
