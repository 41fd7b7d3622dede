"""Text that mentions secrets but contains none, by what makes it look as if it did.

One template per line; `§word` is filled in (see `filling`), `¶` is a line break. Modelled on what tools print and
people write; no line comes from a real transcript.
"""

from __future__ import annotations

CAUSES: dict[str, str] = {}

CAUSES["sessions"] = r"""
checkpoint_type=session checkpoint_id=§md
checkpoint_type=session checkpoint_id=§uuid step=§n
§time INFO saved checkpoint type=session checkpoint=§word-§short-§n
type=session id=§uuid owner=§user
kind=session name=§snake_§sha
scope: session parent_run=§uuid
pam_unix(cron:session): session opened for user §user(uid=§n) by (uid=0)
pam_unix(sudo:session): session closed for user §user
systemd[1]: Started session-§n.scope - Session §n of User §user.
systemd-logind[§n]: New session §n of user §user.
New session '§kebab-2026-§short' attached to /home/§user/§path
[session §short] §word §word finished in §mss
session §uuid resumed after §n ms
session_id=§uuid event=§word.§word
session-id: §uuid
{"session_id": "§uuid", "session": "§kebab-§n"}
{"type": "session", "session": "ses_§snake", "started": "§dayT§time.123Z"}
session: AsyncSession = Depends(get_§word_session_v2)
with Session(engine, expire_on_commit=False) as session, session.begin():
session = requests.Session(); session.mount("https://", HTTPAdapter(max_retries=§d))
session.query(§Camel).filter(§Camel.§snake == §n).one_or_none()
const session = await getServerSession(req, res, authOptions2)
session = boto3.session.Session(profile_name="§kebab", region_name="eu-west-1")
SESSION_STORE=redis-cluster/§kebab/v2
SESSION_COOKIE_NAME=§snake_session2
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
XDG_SESSION_ID=§n
XDG_SESSION_PATH=/org/freedesktop/DisplayManager/Session0
XDG_SESSION_TYPE=wayland
DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus,guid=§md
SESSION_MANAGER=local/§host:@/tmp/.ICE-unix/§n,unix/§host:/tmp/.ICE-unix/§n
TERM_SESSION_ID=w0t§dp0:§uuid
tmux new-session -d -s §kebab-§n 'make §word'
tmux attach -t session-§word-§short
screen session §n.pts-§d.§word (Detached)
claude --resume session_§uuid
replay --session §day-§kebab-§short
session=§day-§word-run-§n
session: §kebab-experiment-§n
Session   §short   active   §n messages
 sess=§n user=§user ip=10.0.§d.§n
spark.session.timeZone=Europe/Berlin spark.session.name=§kebab-v2
tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(§snake=True))
onnxruntime.InferenceSession("§path.onnx", providers=["CPUExecutionProvider"])
the session checkpoint-2026-§two-§two-§word-§n was written to §path
session worktree/§kebab-§short is §n commits ahead
session transcripts/§uuid.jsonl
sessions/§uuid/subagents/agent-§short.jsonl
session logs: /var/log/§word/§day/session-§n.log
mcp session initialize=§word-§n protocol=2025-06-18
session key=§word:§n:§word value_size=§n
auth: session=required method=oauth2/§word-v2
session sess_§md resumed
restore session §short§short§md (turn §n)
"""

CAUSES["test results"] = r"""
PASS: tests/§path
PASS: §snake_§n (§ms s)
PASS: Test§Camel/§snake_§n
PASS: §snake-§n.t §n - §word §word §word
PASS §path (§ms s)
PASS|P|§n
PASS|§snake|§n|§ms
pass|P2|§n|§short
PASS | §camel2 | §n ms
--- PASS: Test§Camel (§mss)
=== RUN   Test§Camel¶--- PASS: Test§Camel (0.0§ds)¶PASS¶ok  	acme.test/§word/v2	§mss
pass (test_§snake.§Camel2) ... ok
pass (test_§snake_§n)
pass: §n, fail: §d, skip: §d
pass: §n/§n (9§d.§d%)
pass=§n fail=§d
PASS=§n WARN=§d ERROR=0 SKIP=0 TOTAL=§n
# pass §n
# pass  §n¶# fail  0¶# cancelled 0
✓ §word pass@§d=0.§n
pass@1: 0.§n pass@10: 0.§n
pass rate: §ms%  pass_rate=0.§n
result: PASS(§snake_case_§n)
[PASS] §Camel2.§camel3 (gas: §n)
[PASS] §camel(uint256) (runs: 256, μ: §n, ~: §n)
test §snake::pass_§n ... ok
PASS [   0.0§ds] §kebab §snake::test_§n
   PASS [   §mss] §kebab::bin/§word §snake::v2
status: pass:§snake_2
verdict=pass:v§d confidence=0.§n
check_§word: pass -> §snake_2 (§n ms)
pass-1: §snake2.§word  pass-2: §snake3.§word
pass 1/3: §path:§n
pass #§d: optimized §n nodes, removed §n
PASS 2026-§two-§twoT§time §word-§short
TAP version 13¶ok §d - pass: §word.§word2
PASSED tests/§path::test_§snake[§word-§n]
PASS src/§path.test.tsx (§ms s)¶  ✓ §word §word (§n ms)
{"Action":"pass","Package":"acme.test/§word","Test":"Test§Camel","Elapsed":0.§n}
{"status": "pass", "pass": "§n/§n", "id": "§short"}
| §snake | pass | §n2ms |
| PASS | §kebab-§n | §path:§n |
PASS: gdb.base/§kebab.exp: print §camel2
PASS: gcc.dg/§kebab-§d.c (test for excess errors)
PASS: libgomp.c/../libgomp.c-c++-common/§kebab-§d.c execution test
PASS:  §n¶FAIL:  0¶XPASS: 0¶# TOTAL: §n
Result: PASS (§n2 assertions)
rspec pass:§n2/§n
test-§kebab: PASS[§n]
lint: PASS(3.12,ubuntu-22.04)
self_check PASS=>§snake_v2
pass="§n" fail="0" skipped="§d"
test result: PASS. §n passed; 0 failed
§time PASS: [§snake_§n] expected=§n actual=§n
#PASS:§word:§path:§n:§n
PASS: §uuid
PASS: §word (§n checks)
PASS: x86-64 §WORD insns (Intel disassembly)
PASS: §word§n
"""

CAUSES["flags of other programs"] = r"""
date -u +%Y-%m-%dT%H:%M:%SZ
date -u +"%Y%m%d:%H%M%S"
ts=$(date -u +%s:%N)
NOW=$(date -u '+%F-%H:%M:%S')
date -u -d "@§n" +%H:%M:%S.%3N
date -u --iso-8601=seconds; date -u +%H:%M:%SZ
ps -u root:wheel -o pid,comm
ps -u §user -o pid:8,args:60
ps -u 1000 -o pid:10,rss:12
sort -u file:§word1 -k §d
sort -t: -u -k§d,§dn /etc/group
install -o root -g wheel -m 644 -u §user:wheel x
chown -R §user:§word1 /srv/§word
docker run --rm -u 1000:1000 -v "$PWD":/work §word:§version
docker run -u §user:§word1 --name §kebab §word:latest
docker run --user "$(id -u):$(id -g)" node:2§d npm ci
docker run --user §user:docker1 -it §word:§version
docker exec -u postgres:postgres9 §kebab psql
podman run --user 1001:0 registry.acme.test/§word:v§version
kubectl exec --user=§user:v2group pod/§kebab -- ls
git push -u origin:§kebab-§n
git push -u §word HEAD:refs/heads/§kebab-§n
git branch -u origin/main:§kebab2
diff -u a/§path:§n b/§path:§n
diff -u old:§short new:§short
sed -u 's:§word1:§word2:'
grep -u §word:§n §path
tail -u §word:§n
rsync --chown=§user:www1 -auv src:§path dst
useradd -u 1001:1001 §user
sudo -u §user:admins1 ls
sudo -u §user env X=§word:§n make
su -u §user:§word2
mount -o uid=1000 -u /dev/sda:§word1
bun run -u §word:§n
python -u §path:§n
python -u -m §word.§word:app2 --port §port
uvicorn -u §word.main:app2
gunicorn -u www:www1 §word.wsgi:application
vim -u NONE:§word2
ssh -u §word:§n
pip install -U §word:§version
pip install -U pip:§version setuptools
npx npm-check-updates -u §word:§version
jest -u §path:§n
vitest -u §word:§kebab2
aplay -U hw:1§d0
netstat -u :§port1
nc -u §host:§port
nmap -sU -p U:53,T:§port -u x:§n
lsof -u §user -i :§port -i tcp:§n
journalctl -u §word:§n.service
systemctl status -u §kebab@§n:8080.service
crontab -u §user:§word1 -l
perf record -u §user -e cycles:u2 -g
strace -u §user -e trace:§word2 ls
iostat -u §word:§n
uniq -u in:§word1
unzip -u §word:§n.zip
tar -u -f §word:§n.tar
cp -u §path:§n /tmp
mypy -u src:§word1
make -u §word:§n1
ansible-playbook -u §user -e app:v§version site.yml
psql -U §user -d §word -c "select ':x1'"
hg -u §user:1§d
svn -u §word:r§n
env -u LANG:§word2 bash
rustup -u §word:v§d
"""

CAUSES["templates"] = r"""
POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?POSTGRES_PASSWORD is required}
- §TOOL_PASSWORD=${§TOOL_PASSWORD:?§TOOL_PASSWORD must be set}
§TOOL_PASSWORD: "${§TOOL_PASSWORD:?set §TOOL_PASSWORD in .env.§word}"
§TOOL_PASS=${§TOOL_PASS?missing_§word2}
§TOOL_PASSWORD: ${§TOOL_PASSWORD:-}
§TOOL_PASSWORD: ${§TOOL_PASSWORD:-${§TOOL_ROOT_PASSWORD}}
§TOOL_SECRET=${§TOOL_SECRET:+--§word=$§TOOL_SECRET}
DATABASE_URL: postgres://${POSTGRES_USER:-app}:${POSTGRES_PASSWORD}@§host:5432/${POSTGRES_DB:-app}
DATABASE_URL=postgresql://${DB_USER:-§word}:${DB_PASSWORD:?}@db:5432/§word
REDIS_URL: redis://${REDIS_USER:-default}:${REDIS_PASSWORD}@redis:6379/§d
AMQP_URL=amqp://${§TOOL_USER:-§word}:${§TOOL_PASS:?§TOOL_PASS is unset}@§host:5672
url = f"postgres://{user}:{password}@{host}:{port}/{database}"
url = f"postgresql+asyncpg://{settings.db_user}:{settings.db_password}@{settings.db_host}/§word"
dsn = f"mysql://{cfg['user']}:{cfg['password']}@{cfg['host']}/§word"
`mongodb://${user}:${encodeURIComponent(password)}@${host}/§word`
`postgres://${process.env.DB_USER}:${process.env.DB_PASSWORD}@${process.env.DB_HOST}/§word`
"amqp://%s:%s@%s:%d/" % (user, password, host, port)
fmt.Sprintf("postgres://%s:%s@%s:%d/%s", user, password, host, port, name)
format!("redis://{}:{}@{}:{}", user, password, host, port)
"jdbc:mysql://{0}:{1}@{2}/§word".format(user, password, host)
String.format("https://%s:%s@%s/§word", user, token, host)
postgres://#{user}:#{password}@#{host}/§word
postgres://<%= ENV["DB_USER"] %>:<%= ENV["DB_PASS"] %>@§host/§word
password: <%= ENV["§TOOL_PASSWORD"] %>
password: <%= ENV.fetch("§TOOL_PASSWORD") { "§word" } %>
password: <%=h @§word.password2 %>
password: {{ §tool_password | default(omit) }}
password: "{{ lookup('env', '§TOOL_PASSWORD') }}"
password: "{{ vault_§tool_password2 }}"
password: {{ .Values.§tool.auth.password | b64enc | quote }}
token: {{ include "§kebab.token" . | quote }}
password: {{ required "A §word is required" .Values.§tool.password2 }}
{{- $password := randAlphaNum 32 | b64enc }}
password={password}&user={user}
?token={token}&next={next}
https://api.acme.test/v2/§word?token={token}&key={api_key}
https://api.acme.test/v2/§word?token=${token}&page=${page2}
https://api.acme.test/v2/§word?access_token=:access_token
"Authorization": f"Bearer {self._token2}"
headers["Authorization"] = f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
'Authorization': 'Bearer ' + localStorage.getItem('§camel2')
curl -u "{user}:{password}" https://§host/§word
curl -u ${USER}:${PASS:?} https://§host/§word
curl -u "$§TOOL_USER:$§TOOL_PASS" https://§host/§word
curl -u '{{ user }}:{{ password }}' https://§host/§word
curl -u "${{ secrets.§TOOL_USER }}:${{ secrets.§TOOL_TOKEN }}" https://§host/§word
curl -u <user>:<password> https://§host/§word
curl -u $(cat /run/secrets/§word):$(cat /run/secrets/§tool_2) https://§host
mysql -u root -p"${MYSQL_ROOT_PASSWORD:?}" -e 'select 1'
mysql -uroot -p$MYSQL_ROOT_PASSWORD §word
sshpass -p "$§TOOL_PASSWORD" ssh §user@§host
PGPASSWORD="${PGPASSWORD:?}" psql -h §host
export §TOOL_TOKEN="$(gcloud auth print-access-token)"
§TOOL_TOKEN=$(curl -s https://§host/token | jq -r .access_token2)
§TOOL_PASSWORD=`openssl rand -hex 16`
§TOOL_PASSWORD=$(openssl rand -base64 24 | tr -d '/+=' | head -c32)
--set §tool.auth.password=${§TOOL_PASSWORD2:?}
password = %s
password = "%(password)s"
"password": "%PASSWORD2%"
password: @§tool.password@
password = @@§TOOL_PASSWORD2@@
db.password=#{§tool_password2}
password: $§tool::params::password2
password => hiera('§tool::password2')
password: __§TOOL_PASSWORD__
SECRET_KEY=[[ secret_key2 ]]
"password": "[[${§tool.password2}]]"
{{#if currentPassword}}{{> passwordPartial password=currentPassword}}{{/if}}
"""

CAUSES["patterns"] = r"""
grep -rn 'token\|secret\|password' §path
grep -rniE "password|secret|token|api_key" §path
grep -E 'password=.*|token=[^ ]+' §path
grep -v 'PASSWORD\|TOKEN\|SECRET' .env.§word
grep -i "key\|token\|secret\|pass2" config/§path
grep -o 'token=[A-Za-z0-9]*' §path
grep -oE '"token":"[^"]+"' §path | cut -d'"' -f4
grep -P 'api[_-]?key["\s:=]+["\x27]?[A-Za-z0-9]{16,}' -r .
grep -c 'session\|cookie\|auth2' §path
grep -n "password\|passwd\|pwd1" §path | head -§n
rg -n 'secret|token|password\b' --type py §path
rg "token\s*[:=]\s*['\"][^'\"]{8,}" src
rg -i 'auth|session|token:v2' §path
ag 'pass(word|phrase)?2|secret' §path
git grep -nE 'password\s*=\s*"' -- §path
git log -S'password\|secret2' --oneline
git diff | grep -iE '^\+.*(password|token|secret)[0-9]?'
sed -E 's/(password|token)=[^&]+/\1=***/g' §path
sed -i 's/password: .*/password: ${§TOOL_PASSWORD}/' §path
sed -n '/token:/,/secret2/p' §path
awk -F= '/PASSWORD|TOKEN2/ {print $1}' .env
awk '/token/ && !/secret2/ {print $§d}' §path
ps aux | grep -i "password\|token2"
env | grep -iE 'token|key|secret|pass' | cut -d= -f1
env | grep -E '^(§TOOL_)?(TOKEN|SECRET|PASSWORD)=' | sed 's/=.*//'
find . -name '*token*' -o -name '*secret*' -o -name '*.key2'
jq 'del(.password, .token, .secret2)' §path
jq -r '.auths | to_entries[] | .key + ":" + .value.auth2' §path
re.compile(r"(?i)(password|passwd|secret|token)\s*[:=]\s*(\S+)")
re.sub(r"token=[^&\s]+", "token=***", §word)
re.findall(r'password["\']?\s*[:=]\s*["\']([^"\']{4,})', §word)
const RE = /(?:token|secret|password)=([^&]+)/gi;
if (/password|token|secret2/i.test(key)) {
new RegExp("token=(?<value>[a-z0-9]+)")
pattern: '(password|token|secret)[=:]\s*\S{8,}'
pattern = r"^(?:api[-_]?key|auth[-_]?token)$"
"regex": "(?i)secret[_-]?key[\"']?\s*[:=]\s*[\"']?([a-z0-9]{32})"
exclude: '\.(key|pem|secret2|token)$'
exclude = "^(tests/secrets|docs/token2)/"
LIKE '%password%' OR name LIKE '%token2%'
WHERE name ~ 'password|token|secret2'
case "$name" in *token*|*secret*|*password2*) echo skip;; esac
[[ "$key" =~ (password|token|secret2) ]] && continue
Select-String -Pattern "password|secret|token2" -Path *.config
findstr /i "password= token= secret2" *.ini
*.key *.pem secret*.yaml !secret2.example.yaml
"token|secret|password|credential2"
'password\|token\|session2'
/token\/|\/secret2/
"**/*secret*", "**/*token2*"
keywords = ["password", "token", "secret", "api_key2"]
SENSITIVE = {"password", "passwd", "secret", "token", "authorization2", "cookie"}
redact: ["password", "token", "*.secret2", "req.headers.authorization"]
paths: ['password', 'user.token2', 'headers["x-api-key"]']
filter_parameters += [:passw, :secret, :token, :_key, :crypt, :salt, :certificate, :otp2]
(pass|pwd|secret|token)[_-]?v?2?
allow-secret|deny-token|mask-password2
"""

CAUSES["cache keys and sizes"] = r"""
key: Linux-gems-§digest
key: Linux-§word-§sha
Cache restored from key: Linux-node-modules-§digest
Cache saved with key: Linux-X64-§word-§digest
Cache not found for input keys: Linux-§word-§sha, Linux-§word-
cache-hit: true key: macOS-ARM64-§word-§short-§digest
key: setup-python-Linux-22.04-Ubuntu-python-3.12.§d-pip-§digest
key: v1-dependencies-§digest
restore-keys: Linux-§word-§short
key: node-cache-Linux-x64-npm-§digest
Using key Linux-§kebab-§digest
- restore_cache: key=§word-v§d-§digest
key=docker-buildx-§word-§sha
turbo cache key=§kebab#build:§short§short
cache key §word-§sha-§n computed in §n ms
bazel action key: §digest
sccache key: §digest hit
key: §day-§word-§short§short
"key": "§word/§word/6552x2048_§short.png"
key: 6552x2048_§n_§short.webp
key=thumb_1920x1080_§short§short
image key: 1024x768_§word_§n.jpg
s3 key=§word/§day/§uuid.json
Key: uploads/§day/§short-§n_4032x3024.heic
ObjectKey: backups/§day/§kebab-§n.tar.gz
storage_key=assets/§short/§word@2x.png
key: §word:§word:§uuid
redis key: §word:§n:§word:v2:§sha
queue key=§word.§word.§n.§day
sort key: §dayT§time#§uuid
partition key: TENANT#§n#§kebab
PK=USER#§uuid SK=ORDER#§day#§n
{"key": "§word-§n-§short", "etag": "§md"}
{"Key": "§word/§word-§sha.parquet", "Size": §n}
{"key": "§WORD-§n", "summary": "§word §word"}
key: "§kebab", hash: "§digest"
route key: /[§word]/[§word]/page-§short§short.js
chunk key: chunks/pages/§word-§short§short.js
query key: ["§word", §n, {"page": §d}]
idempotency-key: §uuid
idempotency key=§word-§day-§uuid
dedupe_key=§sha
lookup key §word_§n_§short
feature key: §kebab-2026-§word-v§d
translation key=§word.§word.§word2.title
host key: SHA256:§short§short§short§short
key fingerprint = §md
hotkey: ctrl+shift+alt+§letter2
key: ArrowDown2 code=40
SSTable key=§n:§short:§word level=§d
etcd key: /registry/§words/default/§kebab-§short
terraform state key: env/§word/§kebab/terraform2.tfstate
jira key: §WORD-§n
build key=§WORD-§WORD-JOB1-§n
§n×§n_§short
primaryKey: Linux-§word-§digest
matchedKey: macOS-§word-v§d-§sha
"""

CAUSES["here-strings"] = r"""
psql -U §user §word <<< "SELECT 1"
psql <<< 'SELECT count(*) FROM §snake'
mysql -u root §word <<< "SHOW TABLES2"
sqlite3 §word.db <<< "SELECT * FROM §snake LIMIT §n"
sudo -S -u postgres psql <<< "SELECT version()"
passwd --status §user <<< "§word §n"
docker exec -i db psql --stdin <<< "SELECT pg_size_pretty(§n)"
clickhouse-client --stdin <<< "SELECT * FROM system.§word"
kubectl exec -i --stdin §kebab -- sh <<< "ls /§word/§word2"
kubectl apply --stdin <<< "kind: ConfigMap"
wc -c <<< "$§word2"
bc <<< "§n*§n+1"
base64 -d <<< "$§TOOL_TOKEN"
read -r user token <<< "$(cat §path)"
read -r a b <<< "§word §word2"
jq . <<< '{"§word": §n, "token": "§word"}'
jq -r .token <<< "$response2"
grep -c §word <<< "$token_list2"
IFS=: read -r name pass <<< "$line2"
python3 - <<< "print(§n**2)"
node <<< "console.log('§word2')"
cat <<< "token: §word"
xargs -n1 <<< "§word2 §word"
tr a-z A-Z <<< "§word-§n"
sha256sum <<< "§word"
while read -r key value; do :; done <<< "$pairs2"
redis-cli -x set §word:§n <<< "§word"
gh secret list --json name <<< ""
vault kv list secret/ <<< "§word2/"
secrets set --help <<< "§word usage"
terraform console <<< "var.§snake"
ssh §host bash <<< "systemctl restart §kebab2"
psql --stdin --quiet <<< "INSERT INTO §snake VALUES (§n, '§word')"
sudo -S true <<< ""
mapfile -t tokens <<< "$output2"
token=$(cut -d: -f2 <<< "$line2")
password=$(tail -1 <<< "$creds2")
[[ $(wc -w <<< "$password2") -gt 1 ]]
"""

CAUSES["code"] = r"""
<Input type="password" value={password} onChange={(e) => setPassword(e.target.value)} />
<PasswordField label="Password" value={form.password2} error={errors.password2} />
<TextField name="token" value={token} disabled={!token2} />
<Login password={password} username={username} onSubmit={handleSubmit2} />
<Route path="/reset/:token" element={<§Camel token={params.token2} />} />
<AuthProvider token={session?.accessToken2}>
<§Camel key={item.id2} token={tokens[item.id2]} />
<§Camel key={`§word-${item.id2}`} session={session} auth={auth.§camel2} />
<§Camel session={session2} apiKey={process.env.NEXT_PUBLIC_§WORD_KEY!} />
<input v-model="password2" type="password">
<input [(ngModel)]="user.password2" type="password" name="password">
<input type="password" bind:value={password2} required>
:token="§camel.token2" @submit="§camel"
const { password, ...rest } = §camel2;
const { token: accessToken2, secret } = await §camel();
const password = §camel2.password;
const token = req.headers['x-§word-token'] as string;
const token = req.cookies.§camel2 ?? req.query.token;
const token = §camel2(user.id, secret);
const secret = config.get<string>('§camel2.secret')!;
const key = §camel2[index2];
const apiKey = options.apiKey ?? this.config2.apiKey;
let session = state.sessions2.get(&id);
let token = self.tokens2.next().ok_or(§Camel::Eof2)?;
let password = rpassword::prompt_password("Password: ")?;
let secret = Secret::new(base64_decode2(&raw)?);
password: form.password2,
password: §camel2.value,
password: await bcrypt.hash(dto.password2, 10),
password: bcrypt.hashSync(password2, saltRounds2),
password: hashed_password2,
password=§snake2.get("password"),
password=make_password(data2["password"]),
password=self.cleaned_data["password1"],
password=serializer.validated_data['password2'],
password=args.password2 or getpass()
token=request.auth2.token,
token=os.environ2["§WORD_TOKEN"],
token=self._§snake2(token_id)
token: §Camel2.fromJson(json['token2']),
token = secrets.token_hex(16)
token = f"{header2}.{payload2}.{signature2}"
secret=settings2.§WORD_SECRET,
secret: fs.readFileSync2('/run/secrets/§word'),
apiKey: import.meta.env.VITE_§WORD_KEY2,
api_key=st.secrets["§word2_key"]
auth=(self.user2, self.password2)
auth=HTTPBasicAuth(user2, password2)
auth=(username, password1)
login(user2, password2)
client.login(username=user2.username, password=self.password2)
self.client.login("§word", self.§snake2)
User.objects.create_user(username=name2, password=password2)
new Credentials(user2, password2)
signIn("credentials", { redirect: false, email: email2, password: password2 })
mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { token } }
type Query { token(id: ID!): Token2 session: Session2! }
interface §Camel { password: string; token?: Token2 | null; secret: Buffer }
private readonly token: InjectionToken2<§Camel>;
func (c *§Camel) SetToken(token §Camel2) { c.token = token }
if token := c.GetHeader("X-§Word-Token"); token != expected2.Token {
Password: sql.NullString{String: password2, Valid: true},
Token: ptr.To(string(secret2.Data["token"])),
Secret: corev1.LocalObjectReference{Name: §camel2},
password := flag.String("password", "", "the password of §word")
char *password = getenv2("§WORD_PASSWORD");
strncpy(creds->password, argv2[2], sizeof(creds->password));
token->next = §snake2->head;
token = strtok_r2(NULL, ":", &saveptr);
if (token == T_§WORD2) return parse_§snake(token2);
key = (struct §snake2 *)malloc(sizeof(*key));
key=lambda x: (x.§snake2, -x.§word),
key=operator2.itemgetter(1)
sorted(§snake, key=§snake2.get, reverse=True)
key: ValueKey2('§word-$index'),
auth: require('./§kebab2').auth,
"auth": partial(§snake2, scheme="basic"),
pass: credentials2.pass,
pass=user_pass2[1]
auth: { user: config2.smtp.user, pass: config2.smtp.pass },
cookie: req.headers2.cookie,
cookies = Cookies2(session=session2)
session=§camel2.session
session: ss.SSLSession2,
$password = $this->input2->post('password');
$user->password = Hash::make($request2->password);
'password' => Hash::make($data2['password']),
'token' => $this->§camel2->token,
@password = params2[:password]
token: @§word.token2
has_secure_token :§snake2_token
password: String = config2.getString("§word.password")
val token = prefs2.getString("token", null)
let password = passwordField2.text ?? ""
public string Password { get; set; } = string.Empty2;
options.Password.RequiredLength2 = 12;
services.AddToken<§Camel2>(token => token.Lifetime2)
case 'password': return §camel2(value);
raise §CamelError("invalid token: %r" % token2)
logger.info("token=%s user=%s", mask2(token), user)
console.log(`token: ${token2.slice(0, 4)}…`);
println!("secret: {:?}", secret2.expose());
assert response.json()["token"] == §snake2.token
expect(wrapper.props().password).toBe(§camel2.password)
pbkdf2Sync(¶  secret,¶  salt,¶  PBKDF2_ITERATIONS,¶  LENGTH,¶  `sha512`¶)
jwt.verify(token, publicKey, options)
names: ["getActionEncryptionKey", "stringToUint8Array", "decodeReply2"]
{ [ENCRYPTION_KEY]: configValue, [ENCRYPTION_EXPIRE_AT]: Date.now() }
password: "[type=password]", radio: "[type=radio]"
:param Ed25519PublicKey|Ed448PrivateKey|Ed448PublicKey key: §word
"""

CAUSES["minified code"] = r"""
let{decryptWithSecret:g}=r("./dist/§word/§word.js"),y=g;
didRenderPhaseUpdateDuringThisPass=!1,§n<=numberOfReRenders)throw Error(§letter)
t.getPrivateKey=function getPrivateKey(e){return §camel(this.keys.getPrivate(),e)};
set password(value1){this[Internal].url.password=value1}get username(){return this}
case"RSA PRIVATE KEY":return i.RSAPrivateKey.decode(s,"der");case"DSA PRIVATE KEY":return{type:"dsa"}
t.EncryptedPrivateKey=u;var d=i.define("§Camel",(function(){
{INVALID_HEADER_TOKEN:10,INVALID_§WORD_LENGTH:11,PAUSED:21}
"createVerifier","require","verify","key","previewModeSigningKey","algorithms"
!function(e,t){"object"==typeof exports?t(exports):t((e=e||self).token={})}(this,function(e){
var a=e.password,t=e.token,n=e.secret;(function(){a.content=t})();
{key:"§camel",value:function(){return this.token=e,this}},{key:"§camel",value:function(e,t){
,key:"content",value:function(){var e=this.props2.token;return e}
e.token=function(t){return n(t)},e.secret=r,e.session=i}(function(){
password:function(e){return/^.{8,}$/.test(e)},token:function(e,t){
t.password=void 0,t.token=null!=(r=e.token)?r:"",t.session=n
secret:t.secret||r,password:t.password2,token:e.t0||n.e1
a.token?(i=a.token,s=1):i=null,o=i.session=e
const{token:e,session:t,auth:n}=r(1234);n.key=e
i.auth="Basic "+btoa(e.username+":"+e.password),delete e.auth
s.headers.Authorization="Basic "+h(e+":"+t)
l.set("Authorization","Bearer "+this.token2)
case"password":return a.createElement("input",{type:"password",value:e.v1})
"password"===e.type?"text"===e.t1:"password"
t.exports={password:1,search:1,tel:1,text:1,time:1,url:1,week:1}
{color:!0,date:!0,email:!0,month:!0,number:!0,password:!0,range:!0}
n.d(t,{token:()=>r,secret:()=>o,password:()=>i2})
,session:a.§camel2,auth:o(e)}),[e,t,n2]);
e.exports=JSON.parse('{"token":"§word","key":"§word"}')
var token=(0,r.useToken2)(),session=(0,o.useSession)()
this.token=e.charAt(this.pos2++),this.session=t[0]
(e.key||e.code)==="Enter"&&t.preventDefault()
,_.auth=§letter.auth||{},_.key=§letter.k1,_.pass=§letter.p1
token:"§letter"+§letter1.toString(36).slice(2),key:§letter.§letter2
.join("").concat(§letter.token,").join(").split(")")
{".token.comment,.token.prolog{color:#708090}.token.keyword{color:#07a}
.token.punctuation{color:#999}.token.function{color:#dd4a68}.token.class-name2{
r.token(§letter.§WORD2,"§word"),r.session(§letter2)
function(e,t,n){"use strict";n.r(t),n.d(t,"token",(function(){return r})),n.d(t,"key",(function(){return o1}))
t.pass=function(){i.render(o1)};e.pass.shader=n
"key",{get:function(){return e.§camel2.token}}
{type:e.TOKEN,pass:e.PASS2,key:e.KEY_§WORD}
secret=e=>t=>n(e)(t),token=§letter=>§letter.t
Object.defineProperty(t,"password",{enumerable:!0,get:function(){return r.password2}})
password:{required:!0,minLength:8,validate:function(e){return e===t("password2")}}
a("form",{ref:"token",attrs:{password:t.p1,session:t.s1}})
var session=new(t(812)).Session2;session.key="§word"
u.key=(function(){return(t=e.§letter1).apply(this,arguments)})()
.auth=(0,§letter.§letter2)(§letter.default,{mode:"§word"})
{auth:"content",cookie:"content",token:"function(){"}
e.secret&&(t.secret=e.secret),e.key.length>0
return{token:e,type:t}},s=function(e,t){return e.token<t.token2?-1:1
"""

CAUSES["file formats"] = r"""
root:x:0:0:root:/root:/bin/bash
§user:x:100§d:100§d:§Word §Word,,,:/home/§user:/bin/zsh
/etc/passwd:root:x:0:0:root:/root:/bin/bash
/etc/passwd:§user:x:100§d:100§d::/home/§user:/bin/bash
grep §user /etc/passwd:§user:x:1001
etc/passwd:§n:§word:x:§n:65534::/nonexistent:/usr/sbin/nologin
/etc/shadow:root:*:19§n:0:99999:7:::
§user:!:19§n:0:99999:7:::
getent passwd §user¶§user:x:100§d:100§d::/home/§user:/bin/sh
implementation 'io.jsonwebtoken:jjwt-api:0.11.§d'
runtimeOnly 'io.jsonwebtoken:jjwt-impl:0.12.§d'
runtimeOnly("io.jsonwebtoken:jjwt-jackson:0.11.5")
testImplementation 'org.springframework.security:spring-security-test:§version'
implementation("com.nimbusds:nimbus-jose-jwt:9.§d.1")
compile group: 'com.auth0', name: 'java-jwt', version: '§version'
<artifactId>jjwt-api</artifactId><version>0.11.§d</version>
[INFO] +- io.jsonwebtoken:jjwt-api:jar:0.11.§d:compile
[INFO] |  \- com.acme.§word:§kebab-token:jar:§version:runtime
Downloading io.jsonwebtoken:jjwt-root:pom:0.11.§d
com.acme.auth:session-token:§version -> com.acme.auth:session-token:§version
"@acme/§kebab-token": "workspace:^§version",
"jsonwebtoken": "^9.0.§d",
"keytar": "7.9.§d", "passport-jwt": "^4.0.1",
jsonwebtoken@9.0.§d:
js-tokens@4.0.0:¶  resolved "https://registry.acme.test/js-tokens/-/js-tokens-4.0.0.tgz#§sha"
/css-tree/3.1.0: {token: css-tokenizer@3.0.§d}
gem "jwt", "~> 2.§d"
django-rest-knox==4.2.§d¶pyjwt==2.8.§d
secrecy = { version = "0.8.§d", features = ["serde"] }
jsonwebtoken v9.2.§d (registry+https://acme.test/index)
github.com/golang-jwt/jwt/v5 v5.2.§d // indirect
apt: libpam-pwquality:amd64 (1.4.§d-1build1)
passwd:4.13+dfsg1-§dubuntu2
Setting up passwd (1:4.13+dfsg1-§d) ...
Unpacking libsecret-1-0:amd64 (0.20.§d-3) over (0.20.3-2) ...
ii  libsecret-common  0.21.§d-1build3  all  Secret store
libsecret-1.so.0 => /lib/x86_64-linux-gnu/libsecret-1.so.0 (0x00007f§short§short)
-rw------- 1 root root §n Feb §d 1§d:§two id_key_§short
lrwxrwxrwx 1 root root §d Mar 1§d 0§d:§two token -> ..data/token2
machines that login with passwords are §word
its password is hashed with bcrypt
Password: required, at least 12 characters
the user account and password rules of §word
vault write -f transit/keys/§word type=aes256-gcm96
a login account password policy applies
%define secret_version §version
:key: <leader>§letter2 :cmd §camel
; key=§word.§word.§word2 type=string
[§word "§word"] key=§word2/§word
key<TAB>value<TAB>§word2
token	NN	B-§WORD2
1	§word	_	NOUN	token=§word2|Number=Sing
{"tokens": ["§word", "##§word2"], "token_ids": [§n, §n]}
msgid "password:%s2"¶msgstr ""
#: §path:§n password_reset_v2
@param password:str2 the §word of the §word
<uses-permission android:name="android.permission.USE_CREDENTIALS2"/>
<key>CFBundleShortVersionString</key><string>§version</string>
<key>NSAppleMusicUsageDescription</key>
<key>§Camel</key><string>com.acme.§camel2</string>
<PublicKeyToken>b77a5c56193§d</PublicKeyToken>
Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089
§user:*:§n§d:§d§n:§word user:/var/empty:/usr/bin/false
/etc/security/passwd: §user-user: flags = ADMCHG
Password    *uint16
authtoken      *uint32
GNUTLS_PSK: §word sanity check
"""

CAUSES["commands"] = r"""
update_password: always
volumes: -v $(PWD):/mnt:z -v $(HOME)/.§word:/.§word
4096 bit RSA key C94035C21B4F2AE§d, created: 2017-03-14
raise prompt("§Word password: ")
prompts = ["New §word password: ", "Confirm new §word password: "]
--ask-§word-pass needs to match
the -secret option unless -§word is used
openssl enc -aes-256-cbc -salt -pbkdf2 -in §word.txt -out §word.enc
openssl enc -aes-256-cbc -d -in §word.enc -out §word
openssl enc -d -aes-128-cbc -k "$§TOOL_PASS" -in §word
openssl enc -aes-256-gcm -p -in §path
openssl rand -base64 §n
openssl req -x509 -newkey rsa:4096 -keyout key2.pem -out cert.pem -days 365 -nodes
openssl pkcs12 -export -password env:§TOOL_PASS2 -in cert.pem
openssl pkcs12 -in §word.p12 -passin file:/run/secrets/§word2
openssl x509 -in cert.pem -noout -pubkey -purpose
openssl s_client -connect §host:443 -prexit
snmpwalk -v2c -c public §host 1.3.6.1.2.1
snmpget -v2c -c "$COMMUNITY" §host sysDescr.0
snmp-server community public RO
snmp-server community <community-string> RO
rocommunity public default
rocommunity community_string2 §host
community string is read-only for every host
community-driven2 §word
the function identified by "§camel"
rows identified by "§snake" are kept
nodes are identified by '§word'
identified as "§kebab"
identified as '§snake' by the parser
was identified as "§word §word"
each user identified by "§word" gets one
mysql -u root -p §word
mysql -u §user -p -h §host §word
mysqldump -u root -p --all-databases > §word.sql
mysql --protocol=tcp -P 3306 -u root
mysql -h §host -P §port -u §user -p §word < §path
mongosh --port §port -u §user -p
redis-cli -h §host -p §port -a "$§TOOL_PASS" ping
redis-cli -p §port -n §d --scan --pattern '§word:*'
zip -r §word.zip §word -x '*.git*'
unzip -p §word.zip §path
unzip -P "$PASS" §word.zip
7z x §word.7z -o/tmp/§word -p
wget -P /tmp/§word https://§host/§word-§version.tgz
wget -p -k https://§host/§path
wget -qO- -P downloads2 https://§host
gpg --batch --yes --passphrase-file /run/secrets/§word2 -d §word.gpg
gpg -a --export §user@acme.test
gpg --with-colons --fingerprint -a §kebab2
docker login -u §user --password-stdin registry.acme.test
docker login -u $USER -p $PASS registry.acme.test
az login --identity -a §kebab2
az login --service-principal -u $ID -p $SECRET --tenant $TENANT
ldapsearch -x -H ldap://§host -b dc=acme,dc=test -w "$PASS"
ldapsearch -x -LLL -W -D cn=admin,dc=acme -P 3
ansible-vault encrypt_string --vault-password-file=§word2 --name '§snake'
ansible-vault view group_vars/§word/vault2.yml
twine upload -r §word dist/§word-§version.tar.gz
twine upload --repository-url https://§host/§word -p "$TWINE_PASS" dist/*
net use z: \\§host\§word2
cqlsh §host §port -u §user -p $PASS
influx -precision rfc3339 -port §port -database §word
keytool -list -keystore §word.jks -alias §word2
security find-generic-password -a §user -s §kebab2
rabbitmqctl -p /§word list_queues name messages2
rabbitmqctl -p §word2 list_users
helm registry login §host -u §user -p $PASS
sqlcmd -S §host -E -i §path -a 32767
bcp §word.dbo.§word out §word.csv -S §host -T -a 8192
plink -P 2222 §user@§host
psftp -P 2222 -b §path §host
cargo publish --token $CARGO_TOKEN2
npm login --auth-type=legacy2
vault login -method=oidc role=§word2
vault kv put secret/§word @§word.json
vault write auth/kubernetes/role/§word policies=§kebab2 ttl=1h
gh secret set §WORD_TOKEN --body "$TOKEN2"
gh auth status --hostname §host --show-token
kubectl create secret generic §word --from-file=key=§path
kubectl create token §word --duration=24h
kubectl get secret §kebab -o jsonpath='{.data.token2}'
ssh-keygen -t ed25519 -C "§user@acme.test" -f ~/.ssh/§word_key2
passwd -l §user
chage -l §user; passwd --expire §user2
htpasswd -c /etc/nginx/.htpasswd §user
net user §user /domain
curl -b cookies.txt -c cookies.txt https://§host
curl -sS -u "$AUTH" https://§host/§word
GET /secret §word.example HTTP/1.1
Request for /secret §word should not have happened
open /token reader2 first
gcloud secrets versions access latest --secret=§word
docker service create --secret=§word
impacket-smbexec §WORD/§user@10.0.§d.§n
restic --password-command 'pass show §word' snapshots
snmpwalk -v3 -u §user -l noAuthNoPriv 10.0.§d.§n
"""

CAUSES["reports and line numbers"] = r"""
§path:§n: password field is missing
§path:§n:  password: string
§path:§n:§n - error TS2339: Property 'token' does not exist on type '§Camel2'.
§path:§n:§n  warning  'password' is assigned a value but never used  no-unused-vars
§path:§n: error: Missing key "password" for TypedDict "§Camel2"  [typeddict-item]
§path|§n col §n| token §word2
password:§n
password: §n
password at line §n
password §n:§n
"password" §n §n
'password':§n:§n
password.py:§n
password.py  §n  §n  9§d%
password_reset.tsx |  §n.§d |  §n |  §n | 1§d-2§d,§n
token.ts                  |   8§d.§d |   7§d.§d | §n-§n
auth/token.go:§n:	§camel2	100.0%
secret.rs:§n:§n
src/session.rs ............ §n lines
key.c:§n: undefined reference to `§snake2'
  §n→password = §snake2.password
  §n	token = §snake2(token)
 src/auth/token.ts    | §n ++++----
 delete mode 100644 tests/password_§n.snap
 rename token.{js => ts2} (9§d%)
create mode 100644 docs/secret-§n.md
modified:   §word/password_policy2.py
M	src/token/§word2.ts
R09§d	src/secret.ts	src/§word/secret2.ts
password  varchar(255) | not null | default ''::character varying
 password      | character varying(128)   |           | not null |
 token         | uuid2                    |           | not null | gen_random_uuid()
| password | varchar(64) | NO   | MUL | NULL    | auto_increment2 |
token           text2                §n
token_count     int8             §n
total tokens    12§d,§n
Tokens: 12.3k sent, 4.5k received, 8§d% cached
prompt tokens=§n completion tokens=§n
tokens/s: §n.§d  TTFT: §n ms
  password                          §n       §n
  secret_manager2                   §n       §n
session               §n calls     §n.§dms
key                §n2 hits
auth       §n2 req/s p99=§nms
pass        §n2
pass: §n2 (9§d.§d%)
auth: §n2/§n
token: §n (0x§short)
token: 0x§short§d
#define T_TOKEN 0x§short
SIOCGLIFTOKEN = -0x3f87§n
key=0x§short value=0x§short
key 0x7f§short§short
token id §n logit -§n.§d
token <0x0A> = §n
password changed §day §time
password expires: §day
secret §kebab created §day
secret/§kebab created
secret "§kebab" deleted
secret/§kebab-tls configured
§kebab-token-§short   kubernetes.io/service-account-token   3   §nd
NAME   TYPE     DATA   AGE¶§kebab-secret   Opaque   §d   §nd
networkpolicy/§kebab-auth2 unchanged
Warning: password set via command line may be insecure2
password must contain 12 characters, 1 digit and 1 symbol2
HTTP 401 auth=failed2 reason=bad_§snake
auth=§n cookie=§n token=§n
auth.log.§d.gz
auth.§word.§day: §n lines
token bucket: rate=§n/s burst=§n2
token ring §n.§n.0.0/16
Got key §n of §n
Processing token §n/§n [§two:§two<§two:§two, §n.§dit/s]
session §n/§n done
secrets scanned: §n, found: 0
Secrets: 0 leaks found in §n commits2
"""

CAUSES["prose"] = r"""
The session then moves the §word to the §word2 queue.
Pass the --token-file=/run/§word2 flag instead.
Pass strictly typed values; pass `--mode` to the §word.
the token strictly belongs to §Camel2
pass --mode §word2 to the tool
Pass `§camel2` as the second argument
pass §camel2() to §camel
pass on to §word-§n when done
pass it to `§snake_2`.
pass in §snake2 and get §word
pass -> fail -> §word2
A pass: §snake2 runs before §word
First pass: rename §camel2. Second pass: §word.
Second pass (§snake2) keeps the §word
The §word pass is `§Camel2Pass`.
key: the name of the §word2 entry
key - §snake2 of the §word
key (§snake2)
Key idea: use §camel2 for every §word
Key insight: the §word2-§word is cached
The key is `§snake2`.
the key is §word.§word2
key point: §kebab-v2
The auth: it's in src/auth2/§word.
Auth is `§kebab2`, see §path
auth: handled by §Camel2
The token is `§Camel2`.
Token: a §word2 of the §word
the token is §camel2
the secret is §kebab2 by default
The password is the §word2's
the password was §word
password is required
password: see 1Password2 entry "§word §word"
Session: we keep §snake2 for the §word
session is `§kebab2-§n`
the cookie is `§snake2`
cookie: §word2 settings
Cookie banners2 on §host
credentials: ask §user@acme.test
credentials are read from §path
creds: see §kebab2
secret: §snake2 in namespace §word
secrets: §kebab2, §kebab
`password` -> `§snake2`
**Token**: §word2 §word
**Key changes**: §camel2, §camel
**Session**: §kebab-§n
- token: `§Camel2 | null`
- `token` - §camel2
- `password`: §snake2 of the user
* password — §word2
1. password → §snake2
What is your password? §Word.
"secret" means §word2 here
'token' is §word2
the "password" "§word" pair
token §snake2 is deprecated
tokens §n–§n are §word2
`secret=True` hides §word2
The `--password` option takes §word2
set the token with `§kebab2 auth login`
key/value: §word2/§word
my password manager §word2 asks
passphrase (empty for no passphrase2):
webhook: §kebab2 fires
license key: §word2 terms apply
salt: §word2 it
hash: §word, salt: §word2
dsn: §kebab2.db
bearer §word2 of news
jwt: see jwt.io2
otp: §n digits
no auth-§word2 needed
auth-§kebab2 is a §word
- `auth.token`: §word¶- `auth.password`: unused
packets identified as "TLSv1.3"
COMMENT ON COLUMN users.password IS 'argon2id';
"password": "Lösenord", "secret": "Geheimnis"
Invalid password or PKCS12 data
the password of the pkcs12 certificate, as RFC§n§d says
rsa-psk: corrected memory leak on §word
credential-libsecret: unlock locked secrets
the --ftp-passwd and --proxy-passwd switches have been renamed
| what counts as a secret | [docs/§word.md](docs/§word.md) |
250 AUTH LOGIN PLAIN¶535-Invalid credentials
Password Credentials Flow¶/usr/lib/python3/dist-packages/§snake/grant_types/§snake_password_credentials.py:§n: token
https://abc:xyz@example.com/§path
[§word via §word, key=§letters] password:
echo PROMPT-OF-§WORD; read -p "[§word, key=§letters] password: "
Fedora §word signing key: §sha: X509.RSA §short []
GPG_KEY=§PRINT
client_key=client_key, cookies=cookies, use_gssapi=use_gssapi,
'bind-pw': 'bindpw',
"manage_own_s3_credentials": "manageOwnS3Credentials",
("v3AuthPass", "v3AuthPass"),
| TLSCipherPSK13 | zabbix_agent_tlscipherpsk13 | |
session_key = "_§snake"
secret_data = "%s\n%s" % (§snake, §snake)
update_pwd = '§kebab/%s/passwords' % §word
:param ssh_key: :class:`§Camel`
"kubectl_password": "--password",
been renamed to --http-password and --proxy-password respectively
prefer --user and --password simultaneously
--ask-password but now --ask-password wins
Manage §Word Env secrets provider
§word_secret: feat: §word the §word
t.Errorf("unexpected PWD: want %s", dir)
GNUTLS_BAG_SECRET: ADDED to §kebab
pkcs11:token=Root%20CA%20Certificates;serial=1
authorization-data: LISTofBYTE
&ldquo;secret:§d&rdquo;, &ldquo;secret:§d&rdquo;
cvs://:pserver:§word@sources.acme.test:/cvs/src
save_password: disable
login_passwd_override: "enable"
host_password: clear
CI_ADMIN_PASS:  !var ci/§kebab/password
url_password: self.§word2_password
private_key: pki/{{ §snake }}.key
log in with username and password in OS7.§d
token: abcdefghijklmnopqrstuvwxyz123456
netbox_token: 0123456789abcdef0123456789abcdef01234567
salt='abcdefghijklmnopqrstuv'
tokens: []Token{rawToken(`-123456789.§n123E+0123456789`)}
"typ"in o&&o?.typ!=="JWT"||!o.alg||t&&o.alg!==t)return!1;return!0
curl https://§host/headers?Set-Cookie=Foo%3Dbar&Set-Cookie=Baz%3Dqux
desired_secret: camel dict representation of the §word
$before = [Acme.WinAutoLogon.LsaUtil]::Read($handle, 'DefaultPassword')
testSumDBVerifierKey = "localhost.test/sumdb+§short+§md"
decrypting PKCS#8 files which use HMAC-SHA256 as PRF
connections using `*-CHACHA20-POLY1305` ciphersuites
unlock dm-crypt target using 'aes-cbc-essiv:sha256'
sensors connected using MP2-PCIe layer
trying to use SMCRv2 fails
ssh to compile as non-C99
log in with bob and oauth2
log in with §user and a §word
has the same structure as MSV1_0_S4U_LOGON (local §word)
// EncapsulationKey768 is the secret key of the §word
from §snake import AuthorizationCodeGrant as OAuth2AuthorizationCodeGrant,
Specifies a password for MD5, HMAC-MD5, or HMAC-SHA256 authentication.
password for the authentication protocol of SNMPv3 user
connect with psycopg2 as §user to port 5432
authenticate using §kebab2 and sign in
use RS256 to sign the token
use argon2id for the password
RFC7519 is the token §word
xdotool type '§word2 §word'
elem.send_keys("§word@acme.test")
{"uid": "12_4", "value": "§Word 2026"}
fill('#search', '§word2')
§word    token-bucket2    §n
NAME          TOKENS   AGE
ssh_passwd: \(aq\(aq
password is \(aqpassword\(aq
IfnsPassword = \fBFalse\fP
def test_present_create_md5_password(mocks, md5_pw, db_args): login(rolepassword=md5_pw)
import { isOAS31 as isOAS31Fn } from "../fn" // auth
"token": "hmac-sha256:§digest"
verifyExports(t, "encryption-key", "chacha20-poly1305")
| `/auth/role/secret-id` | `200/204` |
* secrets: `GET /sys/mounts/:name` endpoint now returns
github.com/acme/edkey v0.0.0-20170222072505-3356ea4e686a
"secret_access_key": "ktri****",
def test_sendRequestBodyErrorWithTooManyBytes(self):
    def test_multipleRangeSets206PartialContent(self):
kind: Secret¶metadata:¶  creationTimestamp: 2026-01-0§dT11:12:09Z¶data:¶  at: 2026-01-0§dT11:12:09Z
psk: &#x3C;string> the §word
"""

CAUSES["translations"] = r"""
      current_password: Você está entrando em uma área segura
      change_password: dein Passwort zu ändern
      change_password: cambia o teu contrasinal
      change_password: alterar a palavra-passe
      change_password: byt lösenord
      invalid_password: Ongeldig wachtwoord
      invalid_password: Érvénytelen jelszó
      set_new_password: Opsæt ny adgangskode
      confirm_new_password: Staðfestu nýja lykilorðið
      confirm_password: Bekræft den nye adgangskode til §word
      new_password: Nové heslo
      only_password: Vetëm fjalëkalim
      your_token: Hozzáférési kulcsod
      regenerate_token: Luo pääsytunnus uudelleen
      client_secret: Asiakkaan salaisuus ja §word
      sign_in_token: sähköpostin suojauskoodilla
        password: Slaptažodis
        password: Hasło
        secret: Ügyféltitok
        secret: Geheimnis
        'password' => 'mật khẩu',
        'current_password' => 'mật khẩu hiện tại',
        'current_password' => 'aktualne hasło',
        'password_confirmation' => 'wachtwoordbevestiging',
        'password' => 'contrasenya',
  "password": "Şifre", "secret": "Значення", "token": "Číslo §n"
  "password": "Wagwoord",
  "passwordLabel": "Kalmarsõna",
  "confirmPassword": "Bekreft passordet",
  "secretKey": "Clé secrète",
      show_password: "Mostra"
      hide_password: "Verbergen"
      show_password: "Pokaż"
          secret: "Hemlighet"
          PW: "Palau"
      pop3_polling_password: "Passwort für die POP3-Abfrage."
      oauth2_client_secret: "Clientgeheim voor aangepaste OAuth2"
      oauth2_client_secret: "カスタム OAuth2 のクライアントシークレット"
      pop3_polling_password: "Пароль аккаунта POP3 для загрузки эл. писем."
      twitter_consumer_secret: "Twitter身份驗證的密鑰，在<a href='https://x.test/apps' target='_blank'>x.test</a>上取得"
      discourse_connect_secret: "認証情報の暗号化に利用する秘密の文字列。10文字以上である必要があります"
            password: "Zaporka"
            password: "Contrasinal"
  "password": "Kodeord",
      server_key: "رمز الخطأ: %{status}"
    "message": "Adgangstoken genopfriskningsfejl"
    "message": "Luo salasana (leikepöydälle)"
msgstr "Adgangskoden skal være på mindst §d tegn"
"""

CAUSES["names with a number inside"] = r"""
	OAuth2SessionTypeAccessToken OAuth2SessionType = iota
func (s OAuth2SessionType) String() string {
type X509SecretProvider struct{ secretLister corev1listers.SecretLister }
// swagger:parameters revokeOAuth2LoginSessions
        JSON.stringify({ encryptionKey: organizationKey.keyB64 }),
        send.password = passwordKey.keyB64;
    session.secret = base64Decoded.secretBytes;
      fido2Credentials: fido2Credentials.length,
password: OAuth2PasswordBearer
token: oauth2Config.TokenSource(ctx, tok),
privateKey: ed25519Signer.privateKey,
apiKey: i18nConfig.apiKeyHeaderName,
hmacKey := e2eKeyStore.currentKey
authToken = http2Client.authTokenProvider
Password: v1Secret.Spec.PasswordSecretRef.Name,
    // Content encryption key is AES256_CBC_HMAC
    let(:id_token) { JWT.encode(token_data, platform_private_key, "RS256") }
jwt.decode(token, secret, "HS256")
    it "corrects authentication method to login for office365" do
    name: "1Password (1pux/json)",
We support 1Password (CLI2) and §Word.
      { alias: alias_name, ai_secret_id: secret_id&.to_i }
        data: { client_secret: data },
  update({ access_token: result, refresh_token: answer })
          body: { client_id:, client_secret: }.to_json,
#  oauth_client_secret            :bigint
                "derhansen/fe_change_pwd": "<2.0.5|>=3,<3.0.3",
        "typo3/cms-change-password": "<10.4.37|>=11,<11.5.28",
          secrets: "APP-STORE-CONNECT-AUTH-KEY,APP-STORE-CONNECT-AUTH-ID,APP-STORE-CONNECT-TEAM-ISSUER"
          secrets: "CI-GHAPP-ID,CI-GHAPP-KEY"
process.env.APPLE_ID_PASSWORD || `@keychain:AC_PASSWORD`;
          @"password": @(passwordSupported()),
              <button type="button" appCopyField="password" [cipher]="cipher">
  <app-secrets [secrets]="secrets$ | async" [password]="form.value.password"></app-secrets>
[storage.mysql.tls.private_key]: ../storage/mysql.md#tls
   `--encryption-key`, and `--new-encryption-key` parameters.
Use `--password` interactively; `--password-stdin` otherwise.
    checksum/secret: §digest
conn = psycopg.connect(f"postgresql://{user}:{quote(password)}@{host}/{db}")
            .filter_from_query_string("-users:§user,§user")
| api client | `client_secret_basic` | Secret | `confidential` |
"""
