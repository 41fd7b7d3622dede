"""Text that mentions secrets but contains none, by kind, one form per entry.

`«name»` is drawn from the vocabulary; `«name.1»` is the same draw everywhere in a text.
"""

from __future__ import annotations

HARMLESS: dict[str, list[str]] = {}

HARMLESS["session-fields"] = [
    "checkpoint_type=session checkpoint_id=«uuid» step=«num»",
    "session «uuid» opened by «user» from «ip»",
    "session=«small» active=«small» idle=«small»",
    "«ts» «level» [«svc»] session started sid=«num» worker=«svc»",
    "Session: «hex8» (attached) windows: «small»",
    "session_type=interactive session_state=active session_count=«num»",
    "pam_unix(sshd:session): session opened for user «user»(uid=«num») by (uid=0)",
    "pam_unix(sudo:session): session closed for user «user»",
    "systemd[1]: Started session-«num».scope - Session «num» of User «user».",
    "tmux: session «svc»: «small» windows (created «date») [211x54]",
    "New session «num» of user «user». seat=seat0",
    "  session.commit() failed at «file»:«line»",
    "sessionmaker(bind=engine, expire_on_commit=False, autoflush=«var»)",
    "session.query(User).filter_by(email=email).one_or_none()",
    "claude --resume «uuid»  # session from «date»",
    "Resuming session «uuid» on branch «branch»",
    "event=session.created session_id=sess-«num» tenant=«svc»",
    "export type Session = { id: string; userId: string; expiresAt: Date }",
    "session store: redis, prefix: sess:, ttl: «num»s",
    "session key exchange finished in «ms»",
    "session affinity: ClientIP, timeout «num»",
    "SESSION_DRIVER=database SESSION_LIFETIME=«num»",
    "SESSION_ENGINE = 'django.contrib.sessions.backends.cached_db'",
    "with Session(engine) as session: session.add(«noun»)",
    "wrote session summary to «path»/session-«date».md",
    "checkpoint_type=session parent_checkpoint=«hex16» reason=compact",
    "req.session.destroy(err => next(err))",
    "session: «adj»  refresh: «adj»  cookie: «adj»",
    "ssh: session channel opened, id=«small», window=«num»",
    "BGP neighbor «ip», session Established, uptime «small»d",
    "PHPSESSID handling: session.use_strict_mode = 1, session.gc_maxlifetime = «num»",
    "mosh-server: session «num» detached after «sec»",
    "INSERT INTO sessions (id, user_id, session_type) VALUES (?, ?, 'web')",
    "selenium: session id «md5» started with chrome «ver»",
    "gdb session ended at breakpoint «small» in «func»",
    "iscsiadm: sid: «small» session state: LOGGED_IN target: iqn.2019-04.example:«svc»",
    "kafka consumer session.timeout.ms=«num» heartbeat.interval.ms=«num»",
    "«ts» session terminated: reason=idle_timeout dur=«sec»",
    "npx playwright: session closed, «small» contexts left",
    "[session] user=«user» tty=pts/«small» shell=/bin/zsh",
    "Key      Session     Checkpoint\nagent    «hex8»    «hex8»\nplanner  «hex8»    «hex8»",
    "session-name: nightly-«svc»-«date»",
    "zk: session 0x«hex16» has expired, reconnecting",
    "vault session lease_duration=«num» renewable=true",
    "session id field is now «adj» (was «adj»)",
    "record {type: 'session', checkpoint: '«uuid»', model: 'opus'}",
    "x-session-id: «uuid»",
    'curl -s "http://localhost:«port»/session/«md5»/url"',
    "spark.session.timeZone=UTC spark.sql.session.state=«adj»",
    "checkpoint_type=session checkpoint_id=«ckpt» turn=«num»",
    "checkpoint_type=session session_id=«sid» status=ok",
    "type=session id=«sid» parent=«sid»",
    "kind: session id: «ckpt»",
    "save session «ckpt» -> «path»/«ckpt».json",
    "restore session «sid» (turn «num»)",
    "session «sid» resumed",
    "session: «sid» turns=«num»",
    "[session «ckpt»] compacted «num» messages",
    "session transcript_path=«path»/«uuid».jsonl",
    "session=«svc»-«date» checkpoint=«ckpt»",
    "Loaded session «svc»_«num».json",
    'session_key_schedule=tls13 session_label="c hs traffic"',
    "agent session agent:«svc»:main updated",
    "session agent:«svc»:subagent:«uuid»",
    "codex resume «uuid»",
    "tmux attach -t session-«svc»-«num»",
    "screen -r «num».session-«svc»",
    "session_name=«svc»_«hex8»_«date»",
    "session start=«ts» end=«ts» dur=«ms»",
    "session checkpoint-«num» saved to s3://«svc»-models/checkpoint-«num»/",
    "Session(id='«svc»-«num»', cwd='«path»')",
]

HARMLESS["copies"] = [
    ("Password strictly required by the policy.\nThe policy is applied strictly.\nChecks run strictly before «verb»."),
    "options:\n  --pass --mode fast\n  --mode «adj»\n  --mode slow",
    'const secret = [\'a\', \'b\'].join("");\nconst path = parts.join("/");\nreturn rows.join("\\n");',
    (
        "token, err := parser.next()\n"
        "if err != nil { return nil, err }\n"
        "for tok := parser.next(); tok != nil; tok = parser.next() {"
    ),
    "password: «adj»\n- «adj» fields come first\n- fields that are «adj» are skipped",
    "secret: «noun»\n«noun» «verb»s the «noun»\nsee «noun» in «file»",
    "--token --force\n--force may be given twice; with --force nothing is asked",
    "pass --verbose to see more\n--verbose prints each step\n--verbose --verbose prints each «noun»",
    "auth «adv» handled by «svc»\n«svc» is started «adv»\nand stopped «adv»",
    "The key function\nfunction «func»(key, function (err, value) {\n  function done() {}\n})",
    "password undefined\nundefined is not a function\ntypeof undefined === 'undefined'",
    "let password = props.value;\nsetValue(props.value);\nreturn <p>{props.value}</p>",
    "api_key: string\nname: string\nscope: string[]\nlabel?: string",
    "token => token.trim()\nvalue => value.trim()\nlines.map(l => l.trim())",
    "pwd; ls -la\ncd «path»; ls -la | head\nls -la «path»",
    "secret = «func»(request)\nuser = «func»(request)\nreturn «func»(request)",
    (
        "PASSWORD_HASHERS = [\n"
        "    'django.contrib.auth.hashers.Argon2PasswordHasher',\n"
        "    'django.contrib.auth.hashers.PBKDF2PasswordHasher',\n"
        "]"
    ),
    "key: value\nother: value\nthe value of a value",
    "password=None, username=None, timeout=None\nif password is None: raise ValueError",
    "credentials: include\nmode: cors\nheaders: include\n// include cookies",
    "token := range tokens\nfor i := range tokens {\nfor range tokens {}",
    "password ||= ENV.fetch\nENV.fetch('HOME')\nENV.fetch('PATH')",
    "The passphrase optional\noptional arguments:\n  -h optional help\n  -k optional key",
    "secret --dry-run\nkubectl apply --dry-run=client -f «path»\nhelm upgrade --dry-run",
    "auth required pam_unix.so\naccount required pam_nologin.so\nsession required pam_limits.so",
    "credential.helper store\ngit config credential.helper store\nredux store, pinia store",
    "password .trim()\nname .trim()\n  .map((x) => x.trim())\n  .filter(Boolean)",
    "passwd: files systemd\ngroup: files systemd\nshadow: files\nhosts: files dns",
    "pass «adv»\nfail «adv»\n«noun» ran «adv»\n«adv», the «noun» is «adj»",
    "token expired\nexpired sessions: «small»\nexpired leases: «small»\nexpired",
    "secret: !!str\nname: !!str\nlabel: !!str",
    "api_key=os.environ\nregion=os.environ\nprint(os.environ)",
    "private_key: Option<PathBuf>,\nconfig: Option<PathBuf>,\nfn load(p: Option<PathBuf>)",
    "client_secret: z.string().min(1)\nclient_id: z.string().min(1)\nredirect: z.string().min(1)",
    "password  varchar(255)\nname      varchar(255)\nemail     varchar(255)",
    "session_key  character varying(40)\ndomain  character varying(40)",
    "Password: required\nName: required\nThe e-mail is required, the phone is not.\nrequired=true",
    "secret/\n  «svc»/\n  shared/\nls secret/ shared/ «svc»/",
    "pass: function (t) {\n  return function (x) { return t(x) }\n}",
    "api_key: None\nlabel: None\nreturn None",
    "token: Token,\nnext: Option<Token>,\nfn next(&mut self) -> Token;",
    "password = this.form.controls\nemail = this.form.controls\nfor (const c of this.form.controls)",
    "passwd -l «user»\nusermod -l new «user»\nls -l «path»",
    "auth: disabled\nmetrics: disabled\ntracing: disabled while disabled upstream",
    "key = lambda x: x[0]\nval = lambda x: x[1]\nmap(lambda x: x, rows)",
    "PASSWORD \\\n  NAME \\\n  EMAIL \\\n  EXTRA",
    "the secret santa list\nsanta comes «adv»\nask santa",
    "credentials provider\nthe provider «verb»s\nprovider.get(), provider.put()",
    "session -> worker -> «noun»\nworker -> «noun»\n«noun» -> done",
    "password /^(?=.*\\d).{8,}$/\nmatches /^(?=.*\\d).{8,}$/ only",
    "access_token | jsonb\nmeta | jsonb\nextra | jsonb not null",
    "--password-stdin\n--stdin\n--from-stdin",
    "secret_name = each.value\nname = each.value\ntags = each.value",
    "client_secret=self.get_secret()\nkey=self.get_secret()\nx = self.get_secret()",
    "secret: --«noun»-only\nrun with --«noun»-only\n--«noun»-only is the default",
    "password = form.«noun»\nx = form.«noun»\ny = form.«noun».«verb»()",
    "token=$(«verb»_«noun»)\n«verb»_«noun»() {\n  echo\n}",
    'api_key=config["«svc»"]\nhost=config["«svc»"]',
    "PASSWORD=«noun»_«verb»er\nfrom x import «noun»_«verb»er\n«noun»_«verb»er()",
    "auth=«svc»\n«svc» started\nrestarting «svc»",
    "key=«verb»-«noun»\n$ make «verb»-«noun»\n«verb»-«noun»: done",
]

HARMLESS["test-runners"] = [
    "PASS: «test» («sec»)",
    "pass («test»)",
    "PASS|«num»|«small»|0",
    "PASS src/«svc»/«noun».test.ts (4.«num» s)",
    "--- PASS: TestRotate«num» (0.0«small»s)",
    "    --- PASS: TestSession/«adj»_«noun» (0.00s)",
    "ok  \tgithub.com/acme/«svc»/internal/auth\t0.«num»s",
    "PASSED tests/test_«noun».py::«test»",
    "tests/test_«noun».py::«test» PASSED [ «small»%]",
    "test auth::tests::«verb»s_«noun» ... ok",
    "PASS: «small», FAIL: 0, SKIP: «small»",
    "# pass «small»\n# fail 0\n# skipped «small»",
    "  ✓ «verb»s the password «noun» («ms»)",
    "ok «small» - password «noun» is «adj»",
    "not ok «small» - token «verb» # TODO",
    "PASS [ «sec» ] (  «small»/«num») «svc»::«noun» «test»",
    "Test «small»: password-«noun» ... PASS",
    "pass=«num» fail=«small» skip=«small»",
    "PASS:«num» FAIL:«small» TOTAL:«num»",
    "[PASS] «test» (gas: «num»)",
    "[       OK ] TokenStore.«verb»«noun» («small» ms)",
    "[  PASSED  ] «num» tests.",
    "Tests: «small» passed, «small» total\nTime: «sec»",
    "PASS  Tests\\Feature\\Auth\\PasswordResetTest",
    "PASS  Tests\\Unit\\«noun»Test «sec»",
    "pass: «test»_«noun» line «line»",
    "PASS «test» («file»:«line»)",
    "result: PASS reason: «sent»",
    "«time» PASS «svc» smoke: login page loads",
    "PASS-«num» | «noun» «adj» | «ms»",
    "pass rate: «small».«small»%",
    "E2E PASS: session survives a «noun» restart",
    "tap: pass(«small») fail(0)",
    "PASS: gcc.dg/«noun»-«small».c (test for excess errors)",
    "PASS: «svc»/«noun».sh 3 - git credential fill",
    "XPASS tests/test_auth.py::«test»",
    "pass/fail: «small»/«small» key=«adj»",
    "✔ pass «svc» («sec»)",
    "PASS | check_«noun» | exit=0 | «ms»",
    "Lint pass: «file»",
    "1st pass: «num» symbols, 2nd pass: «num» relocations",
    "pass «small» of «small»: optimizing «noun»s",
    "second pass finished in «sec»",
    "ffmpeg -pass 1 -passlogfile ffmpeg2pass -i in.mp4 -f null /dev/null",
    "LLVM pass 'loop-unroll' ran on function «func»",
    "PASS «uuid»",
    "PASS:  checks.secrets.«adj»_«noun»",
    "  PASS  tests/«test».js",
    "Pass: True  Score: 0.«num»",
    "| «test» | PASS | «ms» |",
    "assert result == 'PASS', result",
    'PASS=$((PASS+1)); echo "PASS: $name"',
    "pass_count=$((pass_count + 1))",
    "PASS: «case»",
    "PASS: «case»: «noun» «adj» «sent»",
    "pass («case»)",
    "pass («case»",
    "PASS|P|«num»",
    "PASS|F|«num»|«case»",
    "PASS|«case»|«ms»",
    "PASS: «svc»/«case»",
    "PASS:«case»",
    "PASS:«svc»::«case»",
    "PASS - «case»",
    "PASS : «case»",
    "pass: «case»",
    "pass=«case»",
    "Pass: «case»; Fail: none",
    "PASS: HTTP/1.1 200 OK /api/«table»",
    "PASS: exit=0",
    "PASS: v«ver» == v«ver»",
    "PASS: /«table»/«num» -> 200",
    "PASS: sha256 «sha256»",
    'PASS: {"status":"ok"}',
    'PASS: $(basename "$t")',
    'echo "PASS: $1"',
    "printf 'PASS: %s\\n' \"$name\"",
    "pass: «case»@«host»",
    "PASS: «uuid»",
]

HARMLESS["flag-no-login"] = [
    "date -u +%Y-%m-%dT%H:%M:%SZ",
    "date -u +%s",
    "TS=$(date -u +%Y%m%d-%H%M%S)",
    "ps -u root:wheel -o pid,args",
    "ps -u «user» -o pid,user,comm",
    "sort -u «path»/names.txt | wc -l",
    "sort -t: -k3 -u /etc/group",
    "git push -u origin «branch»",
    "git branch -u origin/«branch»",
    'docker run --rm -u 1000:1000 -v "$PWD":/work «img» make',
    "docker exec -u «user»:«user» «svc» id",
    "podman run -u 0:0 «img» sh -c 'chown -R 1000 /data'",
    "sudo -u «user» psql -c '\\du'",
    "sudo -u postgres createdb «svc»_test",
    "su -p «user» -c whoami",
    "journalctl -u «svc».service --since today",
    "systemctl --user status «svc»",
    "mkdir -p «path»/«svc»/«noun»",
    "cp -pu «path»/*.conf /backup/",
    "python -u «file» --port «port»",
    "python3 -u -m «noun».worker",
    "ssh -p 2222 «user»@«host»",
    "scp -P 2222 -p out.tar «user»@«host»:/srv/",
    "nmap -p 22,80,443 «ip»",
    "lsof -p «num» -u «user»",
    "top -u «user» -b -n1",
    "docker run -p 5432:5432 «img»",
    "docker run -p 127.0.0.1:6379:6379 --user 999:999 «img»",
    "docker compose -p «svc»-ci up -d",
    "make -p | grep '^«noun»'",
    "tar -xpf «svc».tar -C «path»",
    "rsync -rupt ./dist/ «user»@«host»:/srv/«svc»/",
    "pkill -u «user» -f celery",
    "id -u «user»",
    "useradd -u 1001 -g «user» -p '' «user»",
    "usermod -u «num» «user»",
    "groupadd -g «num» -p '*' «user»",
    "find «path» -user «user» -perm -u=w",
    "chmod u+rwX,g-w «path»",
    "chown -R «user»:«user» «path»",
    "diff -u a/«file» b/«file»",
    "diff -up old.c new.c | patch -p1",
    "patch -p0 < «noun».patch",
    "npm i -g -p «pkg»",
    "npm publish -u latest",
    "npx -p typescript tsc --noEmit",
    "tmux new -s «svc» -d; tmux send-keys -t «svc»:0 'make -p' Enter",
    "uniq -u words.txt",
    "cut -d: -f1 -u",
    "pip install -U «pkg»",
    "pytest -p no:cacheprovider -q «file»",
    "perl -p -i -e 's/foo/bar/' «file»",
    "cargo test -p «svc» -- --nocapture",
    "pnpm -F «svc» -u update",
    "getent passwd «user» | cut -d: -f6",
    "psql -p 5432 -U «user» -d «svc» -c 'select 1'",
    "mysql -u «user» -e 'show tables' «svc»",
    "redis-cli -p 6379 info keyspace",
    "mongosh --port 27017 -u «user» --authenticationDatabase admin",
    "strace -u «user» -p «num» -e trace=openat",
    "perf record -u «user» -p «num» -- sleep 5",
    "crontab -u «user» -l",
    "install -o «user» -m 0644 -p «file» «path»",
    "ionice -c2 -n7 -p «num»",
    "taskset -p 0x3 «num»",
    "gpg -u «user»@example.com --clearsign «noun».txt",
    "rg -u -p TODO src/",
    "fd -u -p «noun»",
    'curl -u "$USER:$PASS" https://«host»/v1/me',
    'curl -u "${API_USER}:${API_PASS}" -sS http://localhost:«port»/health',
    "curl -u $NEXUS_USER:$NEXUS_PASSWORD -T «svc».jar https://repo.example.com/",
    'wget --user="$U" --password="$P" https://«host»/«svc».tgz',
    "iostat -xp sda «small»",
    "mount -o username=«user»,password=$SMB_PW //nas/share /mnt",
    "zfs list -pH -o used",
    "ss -tulpn | grep «port»",
    "netstat -tulpn -p",
    'unzip -u -P "$ZIP_PASS" «svc».zip',
    "ansible all -u «user» -m ping",
    "ansible-playbook -u ubuntu site.yml -K",
    "launchctl print user/501",
    "who -u",
    "du -hs --time -u «path»",
]

HARMLESS["compose-templates"] = [
    "      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?POSTGRES_PASSWORD is required}",
    "      MYSQL_ROOT_PASSWORD: ${MYSQL_ROOT_PASSWORD:?set MYSQL_ROOT_PASSWORD in .env}",
    "DATABASE_URL=postgresql://${DB_USER:-app}:${DB_PASSWORD}@db:5432/${DB_NAME:-app}",
    "      REDIS_URL: redis://:${REDIS_PASSWORD}@redis:6379/0",
    "      - JWT_SECRET=${JWT_SECRET}",
    "      - API_KEY=${API_KEY:-}",
    '      SESSION_SECRET: "${SESSION_SECRET:?missing}"',
    "      MINIO_ROOT_PASSWORD: ${MINIO_ROOT_PASSWORD:-$MINIO_SECRET}",
    "    environment:\n      DB_PASS: $DB_PASS\n      DB_USER: $DB_USER",
    "AMQP_URL=amqp://${RABBIT_USER}:${RABBIT_PASS}@rabbit:5672/«svc»",
    "mongodb://${MONGO_USER}:${MONGO_PASSWORD}@mongo:27017/?authSource=admin",
    "password: {{ .Values.postgresql.auth.password | quote }}",
    'password: {{ required "auth.password is required" .Values.auth.password }}',
    "secretKey: {{ randAlphaNum 32 | b64enc }}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "NPM_TOKEN: ${{ secrets.NPM_TOKEN }}",
    "          password: ${{ secrets.REGISTRY_PASSWORD }}",
    'password = "${var.db_password}"',
    "secret_key = var.secret_key",
    'token = data.vault_generic_secret.«svc».data["token"]',
    "password = random_password.«svc».result",
    'ansible_become_password: "{{ vault_become_password }}"',
    "mysql_password: \"{{ lookup('env', 'MYSQL_PASSWORD') }}\"",
    "password: !vault |",
    "password: <%= ENV['DATABASE_PASSWORD'] %>",
    "  password: <%= ENV.fetch(\"«svc»_DB_PASSWORD\") { '' } %>",
    "spring.datasource.password=${DB_PASSWORD:}",
    "spring.security.oauth2.client.registration.google.client-secret=${GOOGLE_CLIENT_SECRET}",
    "password: ENC(${JASYPT})",
    ("env:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef:\n        name: «svc»-db\n        key: password"),
    "          secretKeyRef: {name: «svc», key: api-key}",
    'export PGPASSWORD="$POSTGRES_PASSWORD"',
    "export API_TOKEN=$(cat /run/secrets/api_token)",
    "TOKEN=$(gcloud auth print-access-token)",
    'PASSWORD="${1:-}"',
    ': "${ADMIN_PASSWORD:?Need to set ADMIN_PASSWORD}"',
    "if [ -z \"${SECRET_KEY:-}\" ]; then echo 'SECRET_KEY not set'; exit 1; fi",
    "SECRET_KEY=${SECRET_KEY:-$(openssl rand -hex 32)}",
    "read -rsp 'Password: ' PASSWORD",
    'echo "$PASSWORD" | docker login -u "$USERNAME" --password-stdin «host»',
    "sshpass -e ssh «user»@«host»",
    'sshpass -p "$SSHPASS" scp «svc».tgz «user»@«host»:',
    "secrets:\n  db_password:\n    file: ./secrets/db_password.txt",
    "POSTGRES_PASSWORD_FILE=/run/secrets/db_password",
    "      MYSQL_PASSWORD_FILE: /run/secrets/mysql_pw",
    "KEY=%{ENV:API_KEY}",
    'password => "${ES_PWD}"',
    'auth_token = "@@AUTH_TOKEN@@"',
    "api_key: __API_KEY__",
    "password=%DB_PASSWORD%",
    "set PASSWORD=%1",
    "$env:TOKEN = $Token",
    "https://x-access-token:${GH_TOKEN}@github.com/acme/«svc».git",
    "https://oauth2:${CI_JOB_TOKEN}@gitlab.example.com/acme/«svc».git",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "http://$USER:$PASSWORD@proxy.example.com:3128",
    "machine github.com login $GH_USER password $GH_TOKEN",
    "dsn: {{ db_user }}:{{ db_pass }}@tcp({{ db_host }}:3306)/«svc»",
    "PASSWORD=<password>",
    "token: <your token here>",
    "ADMIN_PASSWORD=${ADMIN_PASSWORD:=$(pwgen -s 24 1)}",
    "AWS_SECRET_ACCESS_KEY=$(aws configure get aws_secret_access_key)",
    'passwordSecret: {{ include "«svc».fullname" . }}-auth',
    "value: op://Private/«svc»/password",
    "DB_PASSWORD=vault:secret/data/«svc»#password",
    "api_key: !Ref ApiKeyParameter",
    "Password: !Sub '{{resolve:secretsmanager:${DbSecret}:SecretString:password}}'",
]

HARMLESS["grep-alternation"] = [
    "grep 'token\\|secret\\|password' -r «path»",
    "grep -rniE 'password|passwd|secret|token' «file»",
    "grep -v 'PASSWORD\\|TOKEN\\|KEY' .env",
    "rg -n 'api_?key|secret|passw(or)?d' --glob '!*.lock'",
    "env | grep -iE 'token|key|secret|pass'",
    "printenv | grep -iv 'secret\\|password'",
    "git log -S'password=' --oneline",
    "ag 'auth_token|session_key' «path»",
    "egrep '(secret|token)=' «path»/*.conf",
    "sed -E 's/(password|token)=[^&]*/\\1=***/g' access.log",
    "sed -i 's/password: .*/password: REDACTED/' «file»",
    "sed -n '/BEGIN.*PRIVATE KEY/,/END/p' «path»",
    "awk -F= '/PASSWORD|SECRET/ {print $1}' .env",
    "awk '/token:/{print $2}' «path»/config.yml",
    "grep -c 'pass:' «noun».log",
    "perl -pe 's/(secret)=\\S+/$1=xxx/g'",
    "grep -oP '(?<=token=)[^&]+' urls.txt",
    "jq 'with_entries(select(.key|test(\\\"token|secret\\\")))' «noun».json",
    "jq -r '.data.password' «noun».json",
    "grep -E '^(DB_PASSWORD|API_KEY)=' .env.example",
    'findstr /i \\"password secret token\\" *.config',
    "Select-String -Pattern 'password|secret' -Path *.ps1",
    "re.compile(r'(?i)(password|token|secret)\\s*[:=]\\s*(\\S+)')",
    'regexp.MustCompile(`(?i)api[_-]?key\\s*=\\s*\\"([^\\"]+)\\"`)',
    "/password|passwd|pwd|secret/i.test(name)",
    "SENSITIVE = /(token|secret|key|password)$/i",
    "redact: ['password', 'token', 'req.headers.authorization']",
    "filter_parameters += [:password, :token, :secret, :_key, :crypt, :salt]",
    'Pattern.compile(\\"(password|secret)=([^;]*)\\")',
    "$pattern = '/pass(word)?|secret|token/i';",
    "grep: «path»: binary file matches 'secret\\|token'",
    "(password|passphrase|passwd):\\s*$",
    "grep -A2 -B2 'secretKeyRef\\|configMapRef' «path»/deploy.yaml",
    "kubectl get secrets -o name | grep -v 'token\\|dockercfg'",
    "git grep -nE 'session|cookie|token' -- '*.«noun»'",
    "grep -nw 'pass\\|passes\\|passed' «file»",
    "rg 'TODO|FIXME|password:' -g '*.md'",
    "grep -q 'AUTH_SECRET=' .env || echo missing",
    "if grep -qE 'token:|key:' \\\"$f\\\"; then",
    'case \\"$line\\" in *password=*|*token=*) continue;; esac',
    "grep --color=never -E 'key|secret|hash' «file»",
    "ack 'client_secret|refresh_token' --ignore-dir=vendor",
    "! grep -rE 'AKIA[0-9A-Z]{16}' «path»",
    "git secrets --add 'password\\s*=\\s*.+'",
    'logcli query \'{app=\\"«svc»\\"} |~ \\"token|secret|password\\"\'',
    "strings «svc» | grep -i 'key\\|pass'",
    "journalctl -u «svc» | grep -iE 'auth|token|passw'",
    "ps aux | grep 'ssh-agent\\|gpg-agent\\|keyring'",
    "zgrep -h 'password=\\S*' /var/log/«svc».*.gz | head",
    "s/\\(token\\|key\\)=\\([^ ]*\\)/\\1=<hidden>/",
]

HARMLESS["cache-keys"] = [
    "key: Linux-gems-«sha256»",
    "Cache restored from key: Linux-node-«sha256»",
    "Cache hit for: setup-python-Linux-x64-24.04-Ubuntu-python-«ver»-pip-«sha256»",
    "Cache saved with key: macOS-pods-«sha40»",
    "restore-keys: |\n  ${{ runner.os }}-gradle-\n  ${{ runner.os }}-",
    "key: ${{ runner.os }}-cargo-${{ hashFiles('**/Cargo.lock') }}",
    "Cache not found for input keys: Windows-yarn-«sha256», Windows-yarn-",
    'key: v«small»-deps-{{ checksum "package-lock.json" }}',
    "cache key: 6552x2048_«sha7»_«num»",
    "key=«num»x«num»_bf16_«hex8»",
    "kernel cache key: gemm_«num»x«num»x«num»_sm90_«hex16»",
    "turbo: cache miss, executing «hex16»",
    "«svc»:build: cache hit, replaying logs «hex16»",
    "nx key «hex16»«hex16» «noun»",
    "sccache: key «sha256» stored in «ms»",
    "ccache: result key «md5»-«num»",
    "webpack cacheKey: default-production-«md5»",
    "babel-loader key «sha40»",
    'apollo cache key: ROOT_QUERY.user({"id":"«num»"})',
    "redis key user:«num»:session:«noun»",
    "key: thumbnails/«num»x«num»/«md5».webp",
    "s3 key: «svc»/2026/«small»/«uuid».json",
    "partition key: tenant#«num»|sort key: order#«date»",
    "object key «svc»-«date»T00.parquet",
    "docker layer key sha256:«sha256»",
    'cache_key = f"{model}:{width}x{height}:{seed}"',
    "memcached key 'views.decorators.cache.cache_page..GET.«md5».«md5».en-us.UTC'",
    'ETag key: W/"«hex16»-«num»"',
    "idempotency key: order-«num»-«date»",
    "primary key: (tenant_id, «col»)",
    "foreign key: fk_«noun»_«table»_«hex8»",
    "KEY `index_«table»_on_«col»` (`«col»`)",
    "sort key «col», hash key «col»",
    "bazel action key «sha256»",
    "Gradle build cache key for task ':«svc»:compileJava' is «md5»",
    "poetry cache key venv-Linux-«ver»-«sha256»",
    "key: pre-commit-3|/opt/hostedtoolcache/Python/«ver»/x64|«sha256»",
    "go-cache key setup-go-Linux-x64-ubuntu24-go-«ver»-«sha256»",
    "vite optimized deps hash key «hex8»",
    "pnpm store key Linux-pnpm-store-«sha256»-«small»",
    "tile key z«small»/x«num»/y«num»@2x",
    "torch inductor key f«sha40»a",
    "HF cache key models--acme--«noun»-«small»b/snapshots/«sha40»",
    "autotune key: (1, «num», «num», 'torch.float16', 'cuda:0')",
    "i18n key auth.«noun».«verb»_«adj»",
    'key: "Escape" keyCode: 27 key: "ArrowUp"',
    "lookup key '«svc».«noun».max-retries' not found",
    "Cache Size: ~«num» MB («num» B) key: Linux-playwright-«ver»",
    "key fingerprint is SHA256:«b64_44»",
    "registry key HKLM\\SOFTWARE\\Acme\\«svc»\\«noun»",
    "key: «num»x«num»_«hex8»_fp8",
    "«num»x«num»_«hex16».engine",
    "cache-key=«svc»-v«small»-«sha7»",
    'key="macOS-bundler-3.3.0-«sha40»"',
    "cacheKey: 'esbuild-«ver»-«md5»'",
    "primaryKey: Linux-gems-«sha256»",
    "matchedKey: Linux-gems-«sha40»",
    "Cache Key Linux-golangci-lint-cache-«num»-«sha40»",
    "key: ubuntu-22.04-«md5»-«svc»",
]

HARMLESS["here-strings"] = [
    'psql -U «user» «svc» <<< "SELECT 1"',
    "mysql -u«user» <<< 'SHOW DATABASES;'",
    'cat <<< "$PASSWORD" > /run/secret',
    'grep -c token <<< "$output"',
    'read -r user host <<< "$line"',
    'IFS=: read -ra parts <<< "$PATH"',
    'bc <<< "scale=2; «num»/«num»"',
    'base64 -d <<< "$ENCODED_TOKEN"',
    'jq -r .token <<< "$response"',
    'openssl dgst -sha256 <<< "$password"',
    'sudo -S apt-get update <<< "$SUDO_PASSWORD"',
    'sudo -u postgres psql <<< "\\du"',
    "docker exec -i «svc» sh <<< 'id -u; pwd'",
    "redis-cli <<< 'INFO keyspace'",
    "ssh «user»@«host» bash -s <<< 'uptime; df -h'",
    'sqlplus -s / as sysdba <<< "select status from v\\$instance;"',
    "sqlite3 app.db <<< '.schema «table»'",
    "mongosh --quiet -u «user» <<< 'db.stats()'",
    "passwd «user» <<EOF\n$NEW\n$NEW\nEOF",
    "cat <<'EOF' > «path»/pass.sh\n#!/bin/sh\nexec true\nEOF",
    'mysql -u «user» -p <<< "SELECT COUNT(*) FROM «table»"',
    "python3 - <<'PY'\nimport secrets\nprint(len(secrets.token_hex()))\nPY",
    'kubectl apply -f - <<< "$manifest"',
    'psql -U postgres -p 5432 <<< "ALTER TABLE «table» ADD COLUMN «col» text"',
    'wc -c <<< "$secret"',
    'xxd -r -p <<< "$hexkey" | sha256sum',
    'while read -r key value; do echo "$key"; done <<< "$vars"',
    "tr -d '\\n' <<< \"$token\" | pbcopy",
    'nc -u «ip» 8125 <<< "«svc».logins:1|c"',
    'ftp -n <<< "open «host»"',
    "awk '{print $1}' <<< \"pass fail pass\"",
    "mapfile -t tokens <<< \"$(cut -d' ' -f1 «noun».txt)\"",
    'gpg --batch --passphrase-fd 0 -d «noun».gpg <<< "$GPG_PASS"',
    "clickhouse-client -u «user» --query \"$(cat)\" <<< 'SELECT version()'",
    'vault write auth/approle/login - <<< "$payload"',
    "envsubst <<< 'password: ${DB_PASSWORD}'",
    "dc <<< '«num» «num» + p'",
    "cqlsh -u «user» <<< 'DESCRIBE KEYSPACES;'",
    "ldapsearch -x -D cn=admin -W <<< ''",
    'psql "$DATABASE_URL" <<< "select count(*) from «table» where «col» is null"',
    "sed 's/a/b/' <<< key",
    "diff <(sort -u a) <(sort -u b) <<< /dev/null",
    "cat <<-END\n\tusage: $0 -u user -p port\n\tEND",
    'fold -w «small» <<< "$cert"',
    "if [[ $x =~ ^pass ]]; then cat <<< ok; fi",
    'sqlcmd -S «host» -U sa <<< "SELECT @@VERSION"',
    'docker compose exec -T db psql -U «user» <<< "SELECT 1"',
    'mariadb -u «user» -p <<< "SELECT 1"',
    "bq query --nouse_legacy_sql <<< 'SELECT 1'",
    "duckdb <<< \"COPY «table» TO 'x.parquet'\"",
    "kubectl exec -i «svc»-0 -- psql -U «user» <<< 'VACUUM «table»'",
]

HARMLESS["ui-templates"] = [
    '<input type="password" value={password} onChange={e => setPassword(e.target.value)} />',
    "<PasswordInput value={password} error={errors.password?.message} />",
    '<TextField label="Password" type="password" value={values.password} />',
    '<input v-model="form.password" type="password" :placeholder="$t(\'auth.password\')">',
    '<input type="password" bind:value={password} minlength="8" required />',
    "<Input.Password value={token} onChange={onTokenChange} visibilityToggle />",
    "<SecretField secret={secret} onReveal={() => «func»(secret)} />",
    "<ApiKeyRow key={apiKey.id} apiKey={apiKey} onRevoke={handleRevoke} />",
    "<Session key={session.id} session={session} />",
    '<input [(ngModel)]="user.password" name="password" type="password">',
    '<input type="password" formControlName="password" autocomplete="new-password">',
    '<input type="password" name="password" value="{{ old(\'password\') }}">',
    '<input type="hidden" name="csrf_token" value="{{ csrf_token() }}">',
    "<%= f.password_field :password, autocomplete: 'off', placeholder: 'Password' %>",
    "<%= form.password_field :password_confirmation, class: 'input' %>",
    "{% csrf_token %}{{ form.password }}{{ form.password.errors }}",
    "{{ form.password|as_crispy_field }}",
    '@Html.PasswordFor(m => m.Password, new { @class = "form-control" })',
    '<asp:TextBox ID="Password" TextMode="Password" runat="server" />',
    '<label for="password">Password</label><input id="password" type="password" placeholder="••••••••">',
    "{#if token}<TokenBadge {token} />{/if}",
    '{token && <Badge token={token} tone="«adj»" />}',
    '<Route path="/reset/:token" element={<ResetPassword />} />',
    '<Trans i18nKey="login.password" components={{ b: <b/> }} />',
    "const [password, setPassword] = useState('');",
    "const [apiKey, setApiKey] = useState<string | null>(null);",
    "password: computed(() => props.modelValue?.password ?? '')",
    '<v-text-field v-model="password" :type="show ? \'text\' : \'password\'" :rules="[rules.required]" />',
    '<el-input v-model="loginForm.password" show-password @keyup.enter="handleLogin" />',
    "<Form.Item name=\"password\" rules={[{ required: true, message: 'Please input your password!' }]}>",
    '<Controller name="password" control={control} render={({ field }) => <Input {...field} />} />',
    "{...register('password', { required: true, minLength: 8 })}",
    "<p>Token: {token ? '••••' : 'none'}</p>",
    "<th>Token</th><th>Secret</th><th>«col»</th>",
    "<td>{{ user.password ? 'set' : 'not set' }}</td>",
    "<button onClick={() => copy(secret)}>Copy secret</button>",
    '<SecureField("Password", text: $password)',
    'SecureField("Password", text: $viewModel.password).textContentType(.password)',
    'OutlinedTextField(value = password, onValueChange = { password = it }, label = { Text("Password") })',
    (
        "TextFormField(controller: passwordController, obscureText: true, decoration: const "
        "InputDecoration(labelText: 'Password'))"
    ),
    'android:inputType="textPassword" android:id="@+id/password"',
    '<string name="password_hint">Password</string>',
    "$password.addEventListener('input', ({ target }) => «func»(target.value))",
    "document.querySelector('input[name=password]').value",
    "await page.fill('#password', process.env.TEST_PASSWORD)",
    "await page.getByLabel('Password').fill(password)",
    "cy.get('[data-cy=password]').type(Cypress.env('password'))",
    'driver.find_element(By.NAME, "password").send_keys(password)',
    "screen.getByPlaceholderText('Enter your password')",
    "<kbd>Tab</kbd> to password, <kbd>Enter</kbd> to «verb»",
    'v-if="!session.loading && session.user"',
    ".password-field { width: «num»px; } .token--«adj» { color: #«hex8»; }",
    'aria-label="Show password" aria-pressed={visible}',
    "export let token; export let session = null;",
    '<slot name="password" :value="password" />',
    "{{#if currentPassword}}{{> passwordPartial password=currentPassword}}{{/if}}",
    "input(type='password' name='password' value=user.password)",
    "= f.input :password, required: false, hint: t('.leave_blank')",
]

HARMLESS["config-docs"] = [
    '# password = ""            # leave empty to use peer authentication',
    ";password =",
    "password =",
    "# masterauth <master-password>",
    "secret_key_base: # run `rails secret`",
    "auth_token: null",
    "token: ~",
    "password: false",
    "password_encryption = scram-sha-256",
    "local   all   all   peer\nhost    all   all   127.0.0.1/32   scram-sha-256",
    "password_file: /etc/«svc»/password",
    "bearer_token_file: /var/run/secrets/kubernetes.io/serviceaccount/token",
    "ssl_key_file = '/etc/ssl/private/«svc».key'",
    "tls:\n  key: /etc/«svc»/tls.key\n  cert: /etc/«svc»/tls.crt",
    '"password": ""',
    '"token": null, "expires": 0',
    '"password": "string"',
    '"apiKey": "YOUR_API_KEY"',
    'api_key = "your-api-key-here"',
    "SECRET_KEY=change-me-in-production",
    "password: changeme",
    "password: <redacted>",
    'token: "***"',
    'token: "<insert token>"',
    "auth:\n  type: «adj»\n  password: required",
    "hash_password: bcrypt",
    "session:\n  cookie: secure\n  store: redis\n  same_site: lax",
    "password-policy: «adj»",
    "[credential]\n\thelper = osxkeychain",
    "[auth]\n  session_timeout = «num»\n  token_length = «small»",
    "token_endpoint_auth_method = client_secret_post",
    "grant_type: client_credentials",
    "security:\n  - bearerAuth: []\n  - apiKey: []",
    "in: header\nname: X-API-Key\ntype: apiKey",
    (
        "type: object\n"
        "required: [username, password]\n"
        "properties:\n"
        "  password:\n"
        "    type: string\n"
        "    format: password\n"
        "    minLength: 8"
    ),
    "passwordField: pwd",
    "auth.provider=ldap\nauth.password.attribute=userPassword",
    "pam_unix.so obscure sha512 yescrypt",
    "password [success=1 default=ignore] pam_unix.so obscure use_authtok try_first_pass yescrypt",
    "PermitRootLogin prohibit-password",
    "key_buffer_size = «small»M",
    "default_authentication_plugin=mysql_native_password",
    "validate_password.policy=MEDIUM",
    "sasl.mechanism=SCRAM-SHA-512 security.protocol=SASL_SSL",
    "ssl.keystore.type=PKCS12",
    "secret: «svc»-tls",
    "secretName: «svc»-tls",
    "imagePullSecrets:\n  - name: regcred",
    "serviceAccountName: «svc»\nautomountServiceAccountToken: false",
    "key: app.kubernetes.io/name\noperator: In",
    "- key: node-role.kubernetes.io/control-plane\n  effect: NoSchedule",
    "topologyKey: kubernetes.io/hostname",
    "access_key: from environment",
    "password_command = pass show «svc»/mail",
    'PassCmd "security find-generic-password -s mail -w"',
    'credentials: "file:«path»/creds.json"',
    "user.password.change=«adj»",
    "token_type=bearer scope=openid",
    "masterKey: generated at first start",
]

HARMLESS["test-placeholders"] = [
    "password: 'password'",
    'password = "password"',
    "token: 'token'",
    'secret: "secret"',
    "expect(login('alice', 'password')).toBe(true)",
    "const token = 'fake-token';",
    "apiKey: 'test-api-key'",
    'api_key="dummy"',
    "headers: { Authorization: 'Bearer test-token' }",
    "Authorization: Bearer <token>",
    "client_secret: 'your-client-secret'",
    "password: 'example-password'",
    "PASSWORD = 'not-a-real-password'",
    'token = "xxx"',
    "token=XXXXXXXXXXXXXXXX",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAXXXXXXXXXXXXXXXX",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    'api_key: "sk-..."',
    "OPENAI_API_KEY=sk-your-key-here",
    'password="wrong-password"',
    "self.client.login(username='«user»', password='test')",
    "assert mask('«noun»') == '****'",
    "setPassword('new-password')",
    "expect(screen.getByLabelText('Password')).toHaveValue('')",
    "it('rejects a missing token', () => { expect(() => «func»(null)).toThrow() })",
    "mock.patch('auth.get_token', return_value='token')",
    "monkeypatch.setenv('API_KEY', 'fake')",
    't.Setenv("TOKEN", "test")',
    'when(tokenService.«verb»(any())).thenReturn("token");',
    '@WithMockUser(password = "password")',
    "user = User(name='bob', password=None)",
    "FactoryBot.define { factory(:user) { password { 'password' } } }",
    "let(:token) { 'invalid-token' }",
    "token: expect.any(String)",
    "password: expect.stringMatching(/^\\$2b\\$/)",
    "{ user: 'u', pass: 'p' }",
    "process.env.JWT_SECRET = 'test-secret';",
    'assertThrows(() -> new Token(""))',
    "const session = { user: { name: 'Test' }, expires: '«date»' }",
    'secret := []byte("secret")',
    'String password = "";',
    'password := os.Getenv("PASSWORD")',
    'let token = std::env::var("TOKEN").unwrap_or_default();',
    "$token = $_POST['token'] ?? '';",
    "password = getpass.getpass('Password: ')",
    'password = input("Enter password: ")',
    'String token = request.getHeader("X-Auth-Token");',
    'var secret = Configuration["Jwt:Secret"];',
    'token = request.cookies.get("session")',
    "password = params.require(:user)[:password]",
    "val token: String by project",
    "final String? password = prefs.getString('password');",
    'assert "password" not in response.json()',
    "expect(log).not.toContain('password')",
    'snapshot: {"token": "[Circular]"}',
    "password: z.string().min(8, 'Too short')",
    "fake.password(length=«small»)",
    "token = secrets.token_urlsafe(«small»)",
    "self.assertEqual(token, 'abc')",
    "describe('token «noun»', () => {",
    "def «test»(session, token): assert session.get('/«table»').status_code == «num»",
]

HARMLESS["i18n"] = [
    '"login.password": "Password:"',
    '"password": "Passwort"',
    '"forgot": "Passwort vergessen?"',
    '"forgot_password": "Mot de passe oublié ?"',
    "password: Contraseña",
    '"password.label": "Contraseña:"',
    'msgid "Password:"\nmsgstr "Passwort:"',
    'msgid "Forgot password?"\nmsgstr "Hasło zapomniane?"',
    "'password' => 'Mot de passe'",
    "password=Wachtwoord",
    "login.password=Senha",
    "auth.password = Parola",
    '"password": "パスワード"',
    '"パスワード": "必須"',
    "密码: 必填",
    '"token": "令牌"',
    "비밀번호: 필수 항목입니다",
    '"비밀번호를 잊으셨나요?"',
    "Пароль: обязательное поле",
    '"password": "Пароль"',
    "Пароль должен содержать не менее «small» символов",
    '"password": "كلمة المرور"',
    '"password": "סיסמה"',
    '"password": "Lösenord"',
    "salasana: pakollinen",
    "heslo: povinné",
    '"secret": "Geheimnis"',
    '"api_key": "Clé d\'API"',
    '"session_expired": "Ihre Sitzung ist abgelaufen"',
    '"session.expired": "La sesión ha caducado"',
    "Password must contain «small» characters",
    "Enter your password:",
    "Password for «user»:",
    "[sudo] password for «user»:",
    "Enter passphrase for key '/home/«user»/.ssh/id_ed25519':",
    "Enter passphrase (empty for no passphrase):",
    "Passwords do not match.",
    "New password:\nRepeat for confirmation:",
    "Bitte geben Sie Ihr Passwort ein:",
    "Passwort: mindestens «small» Zeichen",
    "Kennwort:",
    "Saisissez votre mot de passe :",
    "mot de passe : obligatoire",
    "Introduzca la contraseña:",
    "contraseña: mínimo «small» caracteres",
    "senha: no mínimo «small» caracteres",
    "Inserisci la password:",
    "Wachtwoord: minimaal «small» tekens",
    "Şifre: zorunlu",
    "Mật khẩu: bắt buộc",
    "รหัสผ่าน: จำเป็น",
    "पासवर्ड: आवश्यक",
    '"tokenCopied": "Token copied!"',
    '"key": "Schlüssel"',
    '<string name="forgot_password">Passwort vergessen?</string>',
    "<source>Password</source><target>Hasło</target>",
    '"auth.password.reset" = "Réinitialiser le mot de passe";',
    "t('password.tooShort', { min: «small» })",
    'errors:\n  password:\n    too_short: "ist zu kurz"\n    blank: "muss ausgefüllt werden"',
    "Username:\nPassword:",
    "Login:\nPasswort:",
    "Stay logged in? (session lasts «small» days)",
    "密碼：請輸入",
    "パスワード：８文字以上",
    "토큰: 만료됨",
    "ключ: недействителен",
    "密钥：已过期",
    "токен: истёк",
]

HARMLESS["commit-messages"] = [
    "«sha7» Fix password reset token expiry (#«num»)",
    "«sha7» («branch») Rename pass to password in «noun»",
    ("commit «sha40»\nAuthor: Alice <alice@example.com>\nDate:   «date»\n\n    Hash tokens before they are stored"),
    "feat(auth): «verb» session tokens «adv»",
    "fix(session): «adj» cookie on logout",
    "chore: rotate keys",
    "refactor!: drop password grant",
    "docs: token: explain scopes",
    "test: secret: cover «adj» «noun»",
    'Revert "Add api key middleware"\n\nThis reverts commit «sha40».',
    "Merge pull request #«num» from acme/«branch»",
    "Merge branch 'main' into «branch»",
    "security: bump «pkg» to «ver»",
    "auth: pass context to «func»",
    "pass «noun» by reference in «func»",
    "key: use «noun» instead of «noun»",
    "Signed-off-by: Bob <bob@example.com>",
    "Co-authored-by: Klaus <klaus@example.com>",
    "* «sha7» - (HEAD -> «branch») token: «verb» «noun» («small» days ago) <«user»>",
    "[«branch» «sha7»] Move credentials to the keyring",
    "fixup! session: «verb» key",
    "HEAD is now at «sha7» Password: show strength",
    "Token parser: accept trailing commas",
    "credentials: «verb» «adj» entries «adv»",
    "Change-Id: I«sha40»",
    "Reviewed-on: https://review.example.org/c/«svc»/+/«num»",
    "git tag -s v«ver» -m 'session: stable keys'",
    "Bump version: «ver» → «ver»",
    "Squashed commit of the following:\n\ncommit «sha40»",
    "pick «sha7» Add password meter\nsquash «sha7» fix typo\nreword «sha7» secret: doc",
    "«sha40» refs/heads/«branch»",
    "stash@{«small»}: WIP on «branch»: «sha7» auth: «verb» secrets",
    "Cherry-pick «sha7»: key: avoid copies",
    "secret handling: «verb» before «verb»",
    "pwd: print logical path",
    "passwords: min length «small»",
    "ci: token permissions: read-all",
    "session «noun»: fix race with «noun»",
    "«date» «user»: api: key: optional",
    "blame: ^«sha7» («user» «date» «line») password = None",
    "build(deps): bump «pkg» from «ver» to «ver»",
]

HARMLESS["hashes-ids"] = [
    "sha256:«sha256»",
    "«sha256»  «svc»-«ver».tar.gz",
    "«md5»  «noun».iso",
    "digest: sha256:«sha256» size: «num»",
    "«img»@sha256:«sha256»",
    "Successfully built «hex8»«hex8»",
    "container «sha256»",
    "request_id=«uuid» trace=«md5»",
    '"etag": "«md5»"',
    "X-Request-Id: «uuid»",
    "x-amz-request-id: 4TZ«num»KQ«num»XW",
    "blob «sha40»\ttree «sha40»",
    'nonce="«hex16»" opaque="«md5»" realm="«svc»"',
    "integrity sha512 «sri»",
    "uuid: «uuid»",
    'objectid: ObjectId("«hex16»«hex8»")',
    'resourceVersion: "«num»«num»"\nuid: «uuid»',
    "toolu_01«hex16»«hex8»",
    "msg_01«hex16»«hex8»",
    "build-id «sha40»",
    "md5 of password file: «md5»",
    "fingerprint: «sha40»",
    "SHA1: «sha40» key_id «hex16»",
    "Public key: «hex8» algorithm «small»",
    "keyid: «hex16» (not secret)",
    "PRIMARY KEY hash «hex16»",
    "v1.«ver»-0.2026«num»-«sha7»",
    "chunk-«hex8».js «num».«small» kB",
    "cid: bafybei«md5»«hex16»",
    "checksum token «md5»: ok",
    "session file: «uuid».jsonl («num» kB)",
    "snapshot «hex8» saved, parent «hex8»",
    "seed=«num» hash=«hex16»",
    "tx 0x«sha256» mined in block «num»",
    "address 0x«sha40» nonce «small»",
    "block hash 000000«sha40»",
    "arn:aws:kms:us-east-1:000000000000:key/«uuid»",
    "KeyId: «uuid»",
    "kms key alias/«svc» id «uuid»",
    "subnet-0«hex16» sg-0«hex16» i-0«hex16»",
    "projects/«svc»/secrets/db-password/versions/«small»",
    "secret/«svc»-«hex8» created",
    'secret "«svc»-token-«hex8»" deleted',
    "default-token-«hex8» kubernetes.io/service-account-token 3 «small»d",
    "sh.helm.release.v1.«svc».v«small»  helm.sh/release.v1  1  «small»d",
    "sentry release «sha40» event «md5»",
    "«svc»-«hex8»-«hex8» 1/1 Running 0 «small»h",
    "color: #«hex8»; key frames «small»",
    "JA3 hash: «md5» session resumption: no",
    "X-Amz-Content-Sha256: «sha256»",
    "git hash-object: «sha40»",
    '"commitSha": "«sha40»", "key": "«noun»"',
    "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
]

HARMLESS["code-names"] = [
    'def «func»(password: str, salt: bytes = b"") -> str:',
    "async function «func»(token, { secret, session }) {",
    "func (c *Client) «func»(ctx context.Context, token string) (*Session, error) {",
    "pub fn «verb»_secret(&self, key: &SecretKey) -> Result<Token, Error> {",
    "public String get«noun»(String password, char[] passphrase) throws AuthException {",
    "private readonly string _password;",
    "fun «verb»(password: String, token: Token? = null): Session",
    "if (password !== confirmPassword) {",
    "if token != expected: raise Forbidden",
    "while ((token = lexer.next()) !== null) {",
    "token = tokens[pos]",
    "self.token = token",
    "this.password = password;",
    'var secret = new Secret("«svc»");',
    "secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}",
    "password: hashedPassword,",
    "token: user.token,",
    "apiKey: config.apiKey,",
    "const { token, user: { password } } = payload;",
    "credentials = service_account.Credentials.from_service_account_file(path)",
    "auth = HTTPBasicAuth(username, password)",
    "session = boto3.Session(profile_name=profile)",
    "key = (user.id, session.id)",
    "key=lambda kv: kv[1]",
    "sorted(items, key=attrgetter('«col»'))",
    "max(rows, key=len)",
    "keys: Object.keys(token)",
    "map.get(key) ?? map.set(key, «func»(key)).get(key)",
    "passphrase = passphrase or self.config.passphrase",
    "pass  # «adj»",
    "except KeyError:\n    pass\nelse:\n    pass_through(key)",
    "secret.encode('utf-8')",
    "hmac.new(secret.encode(), msg, hashlib.sha256).hexdigest()",
    "jwt.sign(payload, process.env.JWT_SECRET, { expiresIn: '1h' })",
    "bcrypt.compare(password, user.passwordHash)",
    "token.split('.')[1]",
    'String[] tokens = line.split("\\\\s+");',
    "case TOKEN_STRING: return parse_string(p, token);",
    "#define PASSWORD_MAX «num»",
    "enum Token { Ident, Number, LParen, RParen }",
    "typedef struct session { char *key; struct session *next; } session_t;",
    "let secret: Secret = serde_json::from_str(&body)?;",
    "use secrecy::{ExposeSecret, SecretString};",
    "import { getServerSession } from 'next-auth';",
    "from .tokens import default_token_generator",
    "require 'securerandom'; token = SecureRandom.hex(«small»)",
    "password_confirmation: params[:password_confirmation]",
    "has_secure_password validations: false",
    "attr_accessor :password, :token, :session_key",
    "@Column({ select: false }) password: string;",
    '@Value("${app.jwt.secret}") private String jwtSecret;',
    "[JsonIgnore] public string Password { get; set; }",
    "public required string ApiKey { get; init; }",
    "password: Mapped[str] = mapped_column(String(«num»))",
    "token_urlsafe, compare_digest = secrets.token_urlsafe, secrets.compare_digest",
    "type Props = { token: string; secret?: string; onChange(key: string): void }",
    "interface Credentials { username: string; password: string }",
    "data class Login(val user: String, val password: CharArray)",
    "Authorization: `Bearer ${token}`",
    'headers["Authorization"] = f"Bearer {token}"',
    'req.Header.Set("Authorization", "Bearer "+token)',
    'url = f"postgresql://{user}:{password}@{host}/{db}"',
    'dsn := fmt.Sprintf("%s:%s@tcp(%s:%d)/%s", user, password, host, port, db)',
    "`mongodb://${user}:${encodeURIComponent(password)}@${host}`",
    'sqlx::query!("SELECT token FROM «table» WHERE «col» = $1", id)',
    "password === undefined ? 'unset' : 'set'",
    "passwords.map(p => p.length)",
    "return secretKey.slice(0, 4) + '…'",
]

HARMLESS["sql-schema"] = [
    "CREATE TABLE «table» (id bigserial PRIMARY KEY, token text NOT NULL, secret bytea);",
    "ALTER TABLE «table» ADD COLUMN password_hash varchar(255) NOT NULL DEFAULT '';",
    "SELECT «col», password FROM users WHERE «col» = $1;",
    "UPDATE users SET password = crypt($1, gen_salt('bf')) WHERE id = $2;",
    "UPDATE «table» SET token = NULL WHERE expires_at < now();",
    "INSERT INTO «table» (user_id, token) VALUES (?, ?)",
    " token      | character varying(64) |           | not null |",
    " password   | text                  |           |          |",
    "| password | varchar(255) | NO | | NULL | |",
    "| user | host | plugin |\n| «user» | % | caching_sha2_password |",
    "CONSTRAINT «table»_pkey PRIMARY KEY (id)",
    "CREATE UNIQUE INDEX «table»_token_idx ON «table» (token);",
    "FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE",
    '"index_«table»_on_reset_password_token" UNIQUE, btree (reset_password_token)',
    "DELETE FROM sessions WHERE session_key IN (SELECT session_key FROM expired);",
    " id | name | password \n----+------+----------\n(0 rows)",
    "  «num» | «user» | [null]\n(1 row)",
    "COMMENT ON COLUMN users.password IS 'argon2id';",
    "GRANT SELECT (id, «col») ON «table» TO «user»;",
    "CREATE ROLE «user» WITH LOGIN;",
    "SET SESSION AUTHORIZATION «user»;",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;",
    "SET GLOBAL validate_password.length = «small»;",
    "SHOW CREATE TABLE «table»;",
    "EXPLAIN ANALYZE SELECT token FROM «table» WHERE user_id = «num»;",
    " Index Scan using «table»_token_idx on «table»  (cost=0.42..8.44 rows=1 width=«small»)",
    "   Index Cond: ((token)::text = $1)",
    "model Session {\n  id String @id @default(cuid())\n  sessionToken String @unique\n}",
    "password  String?  @db.VarChar(«num»)",
    "t.string :token, null: false, index: { unique: true }",
    "field :password, :string, virtual: true, redact: true",
    (
        "+----------+---------+\n"
        "| password | token   |\n"
        "+----------+---------+\n"
        "| NULL     | NULL    |\n"
        "+----------+---------+"
    ),
    "username,password,role\n,,",
    "id;email;password_set;«col»\n«num»;a@example.com;true;x",
    "-- password: see vault path secret/«svc»",
    'psql:«noun».sql:«line»: ERROR:  column "token" does not exist',
    (
        'ERROR:  duplicate key value violates unique constraint "«table»_token_key"\n'
        "DETAIL:  Key (user_id)=(«num») already exists."
    ),
    "DECLARE @token uniqueidentifier = NEWID();",
    "WHERE password IS NOT NULL AND token <> ''",
    "GROUP BY session_id, key HAVING count(*) > «small»",
    "BEGIN; SAVEPOINT token; ROLLBACK TO token;",
    "db.«table».createIndex({ token: 1 }, { unique: true })",
    "db.users.find({}, { password: 0 })",
    "HGETALL session:«num»",
    "KEYS token:*\n(empty array)",
    "SCAN 0 MATCH session:* COUNT «num»",
    "TTL token:«num»\n(integer) «num»",
]

HARMLESS["ci-output"] = [
    "##[group]Run actions/checkout@v4\nwith:\n  token: ***\n  ssh-strict: true\n  persist-credentials: true",
    "  GITHUB_TOKEN: ***",
    "Masking secret «small» of «small»",
    "Warning: Unexpected input(s) 'token', valid inputs are ['repo', 'path']",
    "Error: Input required and not supplied: token",
    "$ docker login -u «user» --password-stdin «host»\nLogin Succeeded",
    "WARNING! Your password will be stored unencrypted in /root/.docker/config.json.",
    "Step «small»/«small» : ARG NPM_TOKEN",
    "#«small» [build «small»/«small»] RUN --mount=type=secret,id=npmrc npm ci",
    "«time» Secrets: «small» masked, env: «num»",
    "Scanning for secrets... no leaks found in «num» commits",
    "gitleaks: «num» commits scanned. no leaks found",
    "trufflehog: verified_secrets=0 unverified_secrets=«small»",
    "Finding: generic-api-key in «file»:«line» (ignored, fixture)",
    "RuleID: «noun»-token  Entropy: 3.«small»  File: «file»",
    "bandit: >> Issue: [B105:hardcoded_password_string] Possible hardcoded password: ''",
    ">> Issue: [B106:hardcoded_password_funcarg] Severity: Low Confidence: Medium Location: «file»:«line»",
    "eslint: «file» «line»:«small» error 'password' is assigned a value but never used no-unused-vars",
    "rubocop: «file»:«line»:«small»: C: Naming/VariableName: token",
    "sonar: 'password' detected in this expression, review this potentially hard-coded credential.",
    "semgrep: jwt-hardcode: «small» findings, «small» in tests",
    "Terraform: aws_secretsmanager_secret.«svc»: Refreshing state... [id=«svc»-«hex8»]",
    "  + password = (sensitive value)",
    "  ~ token   = (sensitive value)",
    "  # random_password.«svc» will be created\n  + length = «small»",
    "db_password = <sensitive>",
    "helm: secret/«svc»-env configured",
    "kubectl create secret generic «svc» --from-env-file=.env --dry-run=client -o yaml",
    "secret/«svc» unchanged\ndeployment.apps/«svc» configured",
    "NAME TYPE DATA AGE\n«svc»-db Opaque «small» «small»d",
    "Data\n====\npassword:  «small» bytes\ntoken:     «num» bytes",
    "TASK [«svc» : set password] *** \nchanged: [«host»] => (item=None)",
    ('ok: [«host»] => {"censored": "the output has been hidden due to the fact that \'no_log: true\' was specified"}'),
    "codecov: token not required for public repositories",
    "npm notice Publishing to https://registry.npmjs.org with tag latest and public access",
    'npm ERR! code E401 Unable to authenticate, need: Basic realm="«svc»"',
    "npm ERR! need auth This command requires you to be logged in",
    "yarn: Missing NPM_TOKEN environment variable",
    "Uploading distributions to https://upload.pypi.org/legacy/ with user __token__",
    "session cookie jar saved, «small» cookies",
    "Cypress: 1 passing («sec») - password reset",
    "coverage: lib/token.rb «small».«small»% («small»/«num»)",
    "src/auth/password.ts | 9«small» | «small» | 100 | «line»-«line»",
    "Job «num» key=«svc» status=«adj»",
    "circleci: Using SSH Config Dir '/home/circleci/.ssh', key «md5»",
    "Pipeline #«num» passed for «branch»; secrets: inherit",
    "gcloud: Activated service account credentials for: [«svc»@example.iam.gserviceaccount.com]",
    "aws sts: Assumed role arn:aws:sts::000000000000:assumed-role/«svc»/session-«num»",
    "credentials expire in «small» minutes, session «small»h",
    "pre-commit: detect-private-key........Passed\ndetect-secrets...............Passed",
    'baseline: "hashed_secret": "«sha40»", "is_verified": false, "line_number": «line»',
]

HARMLESS["urls-prose"] = [
    "https://«host»/oauth/token?grant_type=client_credentials",
    "https://docs.example.com/auth/tokens#«noun»",
    "GET /v1/secrets/«svc»/versions/«small»",
    "POST /api/v2/users/«num»/password 204",
    "redirect_uri=http://localhost:«port»/callback&response_type=code",
    "https://user@«host»/acme/«svc».git",
    "git@github.com:acme/«svc».git",
    "ssh://git@«host»:2222/acme/«svc».git",
    "postgres://localhost:5432/«svc»_test",
    "redis://«host»:6379/«small»",
    "http://localhost:«port»/reset-password?token={token}",
    "https://example.com/?session={id}&key={key}",
    "amqp://«host»/«svc»",
    "jdbc:postgresql://«host»:5432/«svc»?user=«user»&sslmode=require",
    "sqlite:///«path»/app.db",
    "I would pass the token to the handler and let the middleware refuse it.",
    "The password is never stored; only its hash is.",
    "We keep the key in the keychain, so nothing secret is on disk.",
    "Let me check how the session is «verb»ed when the token is «adj».",
    "The secret to speed here is the «noun».",
    "First pass: read every file. Second pass: «verb» the «noun».",
    "password - the word itself - is in «small» files.",
    "Now I'll update the API key handling so that it is «adj».",
    "Perfect! All tests pass: the token is «verb»ed «adv».",
    "The key insight: the «noun» is «adj».",
    "The key: never trust the «noun».",
    "Auth: works. Session: works. Token: broken.",
    "User's password must be changed at next logon: yes",
    "What's the password? It isn't in the repository.",
    "Bearer authentication is «adj» for /v1/«table».",
    "Basic authentication over TLS is fine for «svc».",
    "Bearer token missing",
    'Basic realm="«svc»", charset="UTF-8"',
    'WWW-Authenticate: Bearer error="invalid_token", error_description="The access token «adj»"',
    "Set-Cookie: session=; Max-Age=0; Path=/; HttpOnly",
    "Cookie: theme=dark; lang=en",
    "Access-Control-Allow-Headers: Authorization, X-Api-Key, Content-Type",
    "Vary: Cookie, Authorization",
    "Proxy-Authorization header is «adj»",
    "authorization: required by policy «svc»-«small»",
    "the pwd is «path»",
    "pwd: «path»",
    "PWD=«path»\nOLDPWD=«path»",
    "SSH_AUTH_SOCK=/tmp/ssh-«hex8»/agent.«num»",
    "GPG_TTY=/dev/pts/«small»",
    "XDG_SESSION_ID=«small» XDG_SESSION_TYPE=wayland",
    "KEYTIMEOUT=1 KEYMAP=emacs",
    "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
    "TOKENIZERS_PARALLELISM=false",
    "MAX_TOKENS=«num»",
    "PASSENGER_APP_ENV=production",
    "COMPASS_KEYBOARD=us AUTHOR=«user»",
    "monkey=«noun» turkey=«noun» keyboard=us",
    "bypass: «adj» compass: «adj» passenger: «small»",
    "secretary: Maria, treasurer: Klaus",
    "tokenizer: cl100k_base",
    "author=«user» authority=«host»",
    "keyspace=«svc» keyframe=«small» hotkey=ctrl+«small»",
]

HARMLESS["openssl-ciphers"] = [
    "openssl enc -aes-256-cbc -salt -pbkdf2 -in «noun».tar -out «noun».tar.enc",
    "openssl enc -d -aes-256-cbc -pass env:BACKUP_PASS -in dump.enc",
    "openssl enc -aes-128-gcm -pass file:/etc/backup.pass",
    "openssl pkcs12 -export -passout env:P12_PASS -inkey «svc».key -in «svc».crt",
    "openssl req -x509 -newkey rsa:4096 -keyout key.pem -out cert.pem -days «num» -nodes -subj '/CN=«host»'",
    "openssl rsa -passin stdin -in «svc».key -pubout",
    "openssl genpkey -algorithm ED25519 -out key.pem",
    "openssl ciphers -v 'ECDHE+AESGCM:!aNULL'",
    "ECDHE-RSA-AES256-GCM-SHA384  TLSv1.2 Kx=ECDH Au=RSA Enc=AESGCM(256) Mac=AEAD",
    "ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-CHACHA20-POLY1305;",
    "Cipher: TLS_AES_256_GCM_SHA384",
    "New, TLSv1.3, Cipher is TLS_CHACHA20_POLY1305_SHA256",
    "    Session-ID: \n    Session-ID-ctx: \n    Resumption PSK: None",
    "Server Temp Key: X25519, 253 bits",
    "Peer signing digest: SHA256 Peer signature type: RSA-PSS",
    "Verify return code: «small» (self-signed certificate in certificate chain)",
    "key_algorithm=RSA-2048 digest=sha256WithRSAEncryption",
    "KexAlgorithms curve25519-sha256,diffie-hellman-group16-sha512",
    "HostKeyAlgorithms ssh-ed25519,rsa-sha2-512,ecdsa-sha2-nistp256",
    "debug1: kex: server->client cipher: chacha20-poly1305@openssh.com MAC: <implicit> compression: none",
    "debug1: Authentications that can continue: publickey,password,keyboard-interactive",
    "debug1: Next authentication method: password",
    "debug1: Offering public key: /home/«user»/.ssh/id_ed25519 ED25519 SHA256:«b64_44» agent",
    "password hashing: argon2id, m=65536, t=3, p=4",
    "secret = scrypt(N=16384, r=8, p=1, dklen=32)",
    "key derivation: PBKDF2-HMAC-SHA256, «num» iterations",
    "Passphrase cipher: aes256-ctr kdf: bcrypt rounds «small»",
    "gpg: cipher: AES256.CFB, s2k SHA512, count «num»",
    "pub   rsa4096 «date» [SC] [expires: «date»]",
    "sec   ed25519 «date» [SC]\n      «sha40»",
    "signing key algorithm: ES256, kid=«svc»-«date»",
    "jwt alg=RS256 typ=JWT kid=«hex8»",
    "EVP_aes_256_gcm EVP_CIPHER_CTX_new EVP_PKEY_derive",
    'Cipher.getInstance("AES/GCM/NoPadding")',
    'KeyGenerator.getInstance("HmacSHA256")',
    'SecretKeySpec(key, "AES")',
    "crypto.createCipheriv('aes-256-gcm', key, iv)",
    "new DESKeySpec(password.getBytes(UTF_8))",
    "from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC",
    "key = hashlib.pbkdf2_hmac('sha256', password, salt, 600_000)",
    "LUKS: Cipher aes-xts-plain64 Key: 512 bits Priority: normal Digest: sha256",
    "Keyslots:\n  0: luks2\n     Key: 512 bits\n     PBKDF: argon2id",
    "wg: interface: wg0 listening port: «num»",
    "tls-cipher TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384",
    "auth SHA512 cipher AES-256-CBC key-direction 1",
    "ssh-keygen -t ed25519 -C «svc»@ci -N '' -f deploy_key",
    ("ssh-keygen: generating public/private rsa key pair.\nThe key fingerprint is:\nSHA256:«b64_44» «user»@«host»"),
    "256 SHA256:«b64_44» «user»@«svc» (ED25519)",
    "certbot: Using key type ecdsa secp384r1 for «svc».example.com",
    "md5(password) is not acceptable, use bcrypt cost=«small»",
    "subject=CN = «svc».example.com issuer=C = US, O = Let's Encrypt, CN = R3",
    "X509v3 Subject Key Identifier: 0A:4F:«small»:9C:11:E2:77",
    "openssl version -a | head -1  # OpenSSL 3.0.«small»",
    "openssl passwd -6 -stdin < pw.txt",
    "openssl rand -base64 32 > «noun».key",
    "openssl s_client -connect «host»:443 -servername «svc».example.com -tls1_3 </dev/null",
]

HARMLESS["password-then-number"] = [
    "src/login.c: password 42",
    "password: line «line», column «small»",
    "password «line»",
    "«file»:«line»: password",
    "«file»:«line»:«small»: warning: unused variable 'password' [-Wunused-variable]",
    "«file»(«line»,«small»): error TS2339: Property 'token' does not exist on type 'Session'.",
    "grep: password  «line»\ngrep: token     «line»",
    "Password  «line»  «num»  «small»%",
    "password_min_length: «small»",
    "password_max_age: «num»",
    "passwordHistory = «small»",
    "token_count: «num»",
    "tokens: «num» in, «num» out",
    "max_tokens=«num» temperature=0.«small»",
    "total_tokens: «num», prompt_tokens: «num», completion_tokens: «num»",
    "secret version: «small»",
    "secrets: «small» total, «small» expired",
    "api_keys: «num»",
    "keys: «num», misses: «num»",
    "password attempts: «small» of 5",
    "token ttl «num»s",
    "passphrase words: «small»",
    "password length «small» < «small»",
    "Token(type=NUMBER, value=«num», lineno=«line»)",
    "token '«num»' at line «line»",
    "Unexpected token } in JSON at position «num»",
    "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "yacc: unexpected token NEWLINE near line «line»",
    "error: expected one of `,` or `}`, found keyword `«noun»` token at «line»",
    "key «small»: «num» hits",
    "key=«num» val=«num»",
    "auth: «num» ok, «small» failed",
    "pwd_last_set: 13«num»",
    "token bucket: rate=«num» burst=«num»",
    "token: «small»/«num»",
    "secret #«small» «adj»",
    "  «line»  password",
    "  «line» |   const password = req.body.password;",
    "«line»:  def password=(new_password)",
    "«line»-  token: str\n«line»:  secret: str",
    "password (L«line»)",
    "see password, p. «num»",
    "session timeout: «num»",
    "pin: «small» gpio",
    "PIN 13 -> LED, PIN «small» -> SCK",
    "credentials: «small» entries, key size «num»",
    "keysize 2048 keybits 256 keylen «small»",
    "cookie max-age=«num»",
    "passwd: password expiry information changed. («num»)",
    "Password strength: «small»/100",
    "password entropy «small».«small» bits",
    "secret_count=«num» secret_bytes=«num»",
    "pass: 0x«hex8» at «line»",
    "tokenizer vocab «num», pad token id «small», eos token id «num»",
    "<pad> token=0 <s> token=1 </s> token=2",
    "Public-Key: («num» bit)",
    "exit code «small» token step",
]

HARMLESS["passwd-lines"] = [
    "root:x:0:0:root:/root:/bin/bash",
    "/etc/passwd:root:x:0:0:root:/root:/bin/bash",
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
    "«user»:x:«num»:«num»:«svc» service:/var/lib/«svc»:/usr/sbin/nologin",
    "/etc/passwd:«line»:«user»:x:«num»:«num»::/home/«user»:/bin/zsh",
    "«user»:*:«num»:«num»:«svc» user:/var/empty:/usr/bin/false",
    "/etc/shadow:«user»:!:«num»:0:99999:7:::",
    "«user»:!!:«num»::::::",
    "«user»:*:«num»:0:99999:7:::",
    "/etc/group:docker:x:«num»:«user»,«user»",
    "sudo:x:27:«user»",
    "«svc»:x:«num»:",
    "/etc/gshadow:«svc»:!::«user»",
    "passwd: files systemd sss",
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
    "cut -d: -f1,7 /etc/passwd",
    "awk -F: '$3>=1000{print $1}' /etc/passwd",
    "COPY --from=build /etc/passwd /etc/passwd",
    "RUN echo '«user»:x:«num»:«num»::/app:/sbin/nologin' >> /etc/passwd",
    "chpasswd: (user «user») pam_chauthtok() failed, error:",
    "passwd: password unchanged",
    "«user» L «date» 0 99999 7 -1 (Password locked.)",
    "«user» P «date» 0 99999 7 -1",
    "getent passwd «user»\n«user»:x:«num»:«num»:«user»,,,:/home/«user»:/bin/bash",
    "dscl . -read /Users/«user» UserShell",
    "uid=«num»(«user») gid=«num»(«user») groups=«num»(«user»),999(docker)",
    "_apt:x:100:65534::/nonexistent:/usr/sbin/nologin\nmessagebus:x:101:«num»::/nonexistent:/usr/sbin/nologin",
    "/etc/passwd- and /etc/passwd differ at «user»:x",
    "systemd-network:x:998:998:systemd Network Management:/:/usr/sbin/nologin",
    "sssd: nss_getpwnam: «user» not found, passwd map «adj»",
    "+::::::",
    "pwck: user '«user»': directory '/home/«user»' does not exist",
    "#  «user»:password:uid:gid:gecos:home:shell",
    "/etc/security/passwd: «user»: flags = ADMCHG",
    "adduser --disabled-password --gecos '' «user»",
    "Enter new UNIX password: \nRetype new UNIX password: \npasswd: password updated successfully",
    "operator:*:5:5:System &:/:/usr/sbin/nologin",
    "bin:x:2:2:bin:/bin:/usr/sbin/nologin\nsync:x:4:65534:sync:/bin:/bin/sync",
    "cat /etc/passwd | head -1\nroot:x:0:0:root:/root:/bin/ash",
    "grep '^«user»:' /etc/passwd /etc/group",
    "passwd(5): name:password:UID:GID:GECOS:directory:shell",
    "vipw: /etc/passwd is unchanged",
    "nix: users.users.«user».hashedPasswordFile = config.sops.secrets.pw.path;",
    "LISTEN «user»:x in container «svc»",
    "docker run -v /etc/passwd:/etc/passwd:ro -u $(id -u) «img» id",
    "-v /etc/passwd:/etc/passwd:ro -v /etc/group:/etc/group:ro",
]

HARMLESS["coordinates"] = [
    "implementation 'io.jsonwebtoken:jjwt-api:0.11.5'",
    "runtimeOnly 'io.jsonwebtoken:jjwt-impl:«ver»'",
    'api("org.springframework.security:spring-security-oauth2-client:«ver»")',
    'testImplementation("org.testcontainers:vault:«ver»")',
    "[INFO] com.acme.auth:token-service:jar:«ver»-SNAPSHOT",
    "[INFO] +- org.bouncycastle:bcprov-jdk18on:jar:«ver»:compile",
    "|    +--- com.nimbusds:oauth2-oidc-sdk:«ver» -> «ver»",
    "\\--- project :«svc»:auth-password (*)",
    'libraryDependencies += "com.github.jwt-scala" %% "jwt-core" % "«ver»"',
    '[com.auth0/java-jwt "«ver»"]',
    '{:deps {buddy/buddy-auth {:mvn/version "«ver»"}}}',
    "<artifactId>spring-session-data-redis</artifactId>\n<version>«ver»</version>",
    "compileOnly 'javax.servlet:javax.servlet-api:4.0.1'",
    "@Grab('org.apache.shiro:shiro-core:«ver»')",
    "mvn dependency:get -Dartifact=com.acme:secrets-client:«ver»",
    "mvn -pl :«svc»-auth -am test -DskipITs",
    "./gradlew :«svc»:token-api:publishToMavenLocal",
    "gradle: Could not resolve com.acme:password-policy:«ver».",
    (
        "Downloading from central: "
        "https://repo.maven.apache.org/maven2/io/jsonwebtoken/jjwt-api/«ver»/jjwt-api-«ver».pom"
    ),
    'kapt "com.google.dagger:hilt-compiler:«ver»"',
    'ksp("androidx.room:room-compiler:«ver»")',
    'implementation("androidx.credentials:credentials-play-services-auth:«ver»")',
    "classpath 'com.google.gms:google-services:«ver»'",
    "npm:@acme/session-store@«ver»",
    '"«pkg»": "^«ver»"',
    "«pkg»==«ver»",
    '«pkg» = { version = "«ver»", features = ["std"] }',
    "pkg:maven/io.jsonwebtoken/jjwt-api@«ver»?type=jar",
    "pkg:npm/%40acme/token-utils@«ver»",
    "nixpkgs#pass-secret-service",
    "Collecting «pkg»>=«ver»",
    "Successfully installed «pkg»-«ver» keyring-«ver» secretstorage-«ver»",
    "go: downloading github.com/golang-jwt/jwt/v5 v«ver»",
    "github.com/zalando/go-keyring v«ver» h1:«b64_44»",
    "   Compiling secrecy v«ver»",
    "   Compiling rpassword v«ver»",
    "└─┬ «pkg»@«ver»\n  └── jws@«ver» deduped",
    '"integrity": "«sri»"',
    "  resolution: «sri»",
    'checksum = "«sha256»"',
    "pod 'KeychainAccess', '~> «ver»'",
    "gem 'devise-two-factor', '~> «ver»'",
    "Using bcrypt «ver» (was «ver»)",
    "implementation project(':core:session')",
    "exclude group: 'org.passay', module: 'passay'",
    "bom: com.google.cloud:libraries-bom:«ver» secretmanager",
    "arn:aws:secretsmanager:eu-west-1:000000000000:secret:«svc»/db-??????",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:ietf:params:oauth:token-type:access_token",
]

HARMLESS["identified-as"] = [
    'identified as "«svc»"',
    "User «user» identified by certificate CN=«svc»",
    'process «num» identified as "«user»"',
    'The bottleneck was identified as "«noun» contention".',
    "root cause identified as '«adj» «noun»'",
    'file identified as "ASCII text, with CRLF line terminators"',
    "DBA: CREATE USER «user» IDENTIFIED BY :password",
    "ALTER USER «user» IDENTIFIED WITH caching_sha2_password",
    "CREATE USER '«user»'@'%' IDENTIFIED WITH auth_socket",
    "GRANT ALL ON «svc».* TO '«user»'@'localhost' IDENTIFIED VIA unix_socket",
    "CREATE USER «user» IDENTIFIED EXTERNALLY",
    "ALTER USER «user» PASSWORD EXPIRE",
    "CREATE ROLE «user» LOGIN PASSWORD NULL",
    "CREATE USER «user» IDENTIFIED BY '<password>'",
    "ALTER ROLE «user» WITH PASSWORD :'new_password'",
    "authenticated as «user» using password",
    "logged in as «user»",
    "connected as user=«user» database=«svc»",
    'signed in as "«user»@example.com"',
    "you are identified as: guest",
    "this device is identified as '«svc»-«small»'",
    "login as: «user»",
    "Logged in to «host» as «user» (keyring)",
    'Authenticating with key "«svc»-deploy"',
    "identified by its fingerprint «sha40»",
    'speaker identified as "caller «small»"',
    'language identified as "fr" (0.9«small»)',
    'user known as "«user»" password prompt shown',
    'The variable is referred to as "token" below',
    'password for "«user»" is managed by «svc»',
    "Login failed for user '«user»'. Reason: Password did not match",
    'FATAL:  password authentication failed for user "«user»"',
    "ERROR 1045 (28000): Access denied for user '«user»'@'«ip»' (using password: YES)",
    "ORA-01017: invalid username/password; logon denied",
    "login «user» is «adj», password is not checked",
    "su: Authentication failure for «user»",
    'authenticate as role "«svc»" with method kubernetes',
    "credentials for «user» were «adj»",
    "the user is authenticated by session cookie",
    "sudo: «user» : TTY=pts/«small» ; PWD=«path» ; USER=root ; COMMAND=/usr/bin/apt update",
    "admin: true, user: false",
    "admin:admins can edit",
    "login is required",
    "login is disabled for «user»",
    "creds are stored in the keychain",
    "creds are «adj» for «svc»",
    "user/password auth is off",
    "The login is «user», ask ops for the password",
    "VM identified as «uuid»",
    'The regression was identified as "«sha7»" by bisect.',
    'packets identified as "TLSv1.3"',
    "disk identified as 'Samsung SSD 9«small»0'",
    "«svc» logs in as service account '«svc»-sa'",
    "login as another user: sudo -iu «user»",
    "your login is «adj»",
]

HARMLESS["minified"] = [
    ('!function(e,t){"object"==typeof exports?module.exports=t():e.token=t()}(this,(function(){return n(«num»)}));'),
    '(function(){var e=document.createElement("input");e.type="password";return e.value})()',
    "a.password=b.content,a.token=(function(){return c.content})(),a.key=d[«num»]",
    "function t(e){return e.secret=n.secret,e.session=r.session,e}",
    'e.key==="Enter"&&t.preventDefault(),e.key==="Escape"&&n()',
    "var r=n(«num»),o=r.default,i=r.token,a=o(i);",
    'return l.password&&l.password.length<8?"short":void 0',
    'case"password":return s(e,t);case"token":return u(e)',
    "const{token:e,secret:t,session:n}=this.props;return e?t:n",
    '{key:"render",value:function(){return this.state.token}}',
    '{key:"componentDidMount",value:function(){var e=this}}',
    'i.a.createElement("input",{type:"password",value:p,onChange:h})',
    "_jsx(PasswordField,{value:e.password,onChange:t.setPassword})",
    '(0,r.jsx)("label",{htmlFor:"password",children:"Password"})',
    "(e=>{let t=e.pwd;return t?.trim()})(n)",
    'x.auth=x.auth||{},x.auth.token=localStorage.getItem("token")',
    'self.__next_f.push([1,"«small»:I[«num»,[\\"«num»\\",\\"static/chunks/«hex16».js\\"],\\"default\\"]"])',
    'webpackJsonp([«small»],{«num»:function(e,t,n){"use strict";t.session=void 0}})',
    '.pass-field{display:flex}.token-list>li{margin:0 «small»px}.key:after{content:"\\201C"}',
    "@media(max-width:«num»px){.session{width:«small»%}.secret{display:none}}",
    'var n="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";',
    "for(var i=0,key;i<a.length;i++)key=a[i],b[key]=c[key];",
    'if(e.token!==t.token)throw Error("E«num»");',
    "password:function(e){return/^.{8,}$/.test(e)},token:function(e){return!!e}",
    'Object.defineProperty(t,"secret",{enumerable:!0,get:function(){return r.secret}})',
    "//# sourceMappingURL=login.«hex8».js.map",
    "/*! «svc» v«ver» | (c) 2026 | MIT | key:«small» */",
    "export{a as token,b as session,c as default};",
    'import{t as e}from"./token-«hex8».js";',
    '({type:"SET_TOKEN",token:e})',
    'credentials:"same-origin",mode:"cors",headers:e.headers',
    'd.a.post("/login",{username:e.username,password:e.password}).then(function(t){',
    'u.headers.Authorization="Bearer ".concat(e)',
    'headers:{Authorization:`Bearer ${e}`,"X-Api-Key":t}',
    'e.setRequestHeader("Authorization","Basic "+btoa(t+":"+n))',
    'mappings:"AAAA,SAASA,KAAK,CAACC,KAAK,EAAEC",names:["token","secret"]',
    'const s="password"===e?"•".repeat(t.length):t;',
    'k.key="«svc»",k.session=!0,k.pass=1;',
    'this.pass=this.pass.concat(e),this.tokens.push({type:"text",raw:t})',
    'r.tokens.length&&(r=r.tokens[0]).type==="space"',
    "(r={}).password={required:!0,minLength:8},r.email={required:!0}",
    'window.__SESSION__=window.__SESSION__||{};window.dataLayer.push({event:"«noun»"})',
    'var c={content:"«noun»",token:content};return c.content',
    "(function(){this.pass=(function(){return content}).call(this)})();",
    "e.exports={pass:(function(){}),fail:(function(){}),key:content}",
    "n.auth=function(e){return(function(){return e(content)})}",
    "{secret:(e,t)=>t(content),session:(e)=>content}",
    't.d(n,"token",(function(){return o})),t.d(n,"session",(function(){return s}))',
    '!0===e.password&&(t+=" is-password"),r("div",{class:t})',
    ',key:"«noun»",ref:o,token:r.token}),s))}',
    "z.prototype.pass=function(){return this.content},z.prototype.key=A",
    'y=Object.keys(x).filter((function(e){return"secret"!==e}))',
]

HARMLESS["snmp-community"] = [
    "snmpwalk -v2c -c public «ip» sysDescr",
    "snmpget -v 2c -c public «ip» 1.3.6.1.2.1.1.3.0",
    "rocommunity public default",
    "rocommunity public 10.0.0.0/8",
    "snmp-server community public RO",
    "snmp-server community <string> RO 10",
    "community: public",
    "communities: [public]",
    "set community «svc» additive",
    "set community 65000:«num»",
    "route-map OUT permit «small» set community 65001:«num» 65001:«num»",
    "ip community-list standard CL-«small» permit 65000:«num»",
    "BGP community no-export no-advertise",
    "Community strings are sent in clear text in v2c.",
    "com2sec readonly default public",
    "agentAddress udp:161,udp6:[::1]:161",
    "SNMPv2-MIB::sysName.0 = STRING: «svc»",
    'iso.3.6.1.2.1.1.5.0 = STRING: "«svc»"',
    "IF-MIB::ifHCInOctets.«small» = Counter64: «num»",
    "Our community is «adj» and friendly",
    "Community Edition «ver», license key not required",
    "«svc» community forum: https://community.example.org/t/«num»",
    "community contributions welcome: see CONTRIBUTING",
    "module: community.general.«noun»\n  state: present",
    "ansible-galaxy collection install community.hashi_vault",
    "community.crypto.openssl_privatekey:\n  path: «path»/«svc».key",
    "community.docker.docker_container:\n  name: «svc»\n  image: «img»",
    'telegraf: agents = ["udp://«ip»:161"]\n  version = 2\n  community = "public"',
    "onesixtyone -c community.txt «ip»",
    "snmptrap -v 2c -c public «host»:162 '' 1.3.6.1.4.1.8072.2.3.0.1",
    "Timeout: No Response from «ip» (community public)",
    "dnf group install 'community-tools'",
    "LibreNMS: snmp community not set for device «num»",
    "community_id: 1:«b64_44»",
    "zabbix: {$SNMP_COMMUNITY} macro is «adj» on «host»",
    "community=${SNMP_COMMUNITY}",
    "prometheus snmp.yml: auths:\n  public_v2:\n    version: 2",
    "«city» developer community meetup, «date»",
    "set snmp community public authorization read-only",
    "community string 'public' denied by view «small»",
    "louvain: found «small» communities, modularity 0.«small»",
    "node «num» belongs to community «small»",
    "«svc» community manager: Maria",
    "com2sec6 default default public",
    "trap2sink «ip» public",
    "ansible.builtin and community.mysql.mysql_user are both used in «file»",
    "requirements.yml: community.postgresql >= «ver»",
    "extcommunity rt 65000:«num»",
    "large-community 65000:«small»:«num»",
    "The community edition lacks SSO, session recording and password rotation.",
]

HARMLESS["netrc-prose"] = [
    "machine learning model login page",
    "default login shell is /bin/zsh",
    "The machine login password is asked on boot.",
    "machine «svc» is «adj», login disabled, password expired",
    "a state machine with login and password states",
    "The login password field accepts «small» characters",
    "Each machine has a login and a password; account data is kept in LDAP.",
    "netrc: machine, login, password, account and macdef are its words",
    "default login anonymous password <email>",
    "# format: machine <host> login <user> password <token>",
    "virtual machine login prompt appears after «sec»",
    "login password reset flow is «adj»",
    "machine-readable login errors, password rules unchanged",
    "The vending machine accepts account credit only",
    "Turing machine default account of computation",
    "machine name login name password hash",
    "login form password field default state",
    "Log in to the machine with your account password",
    "curl --netrc-optional https://«host»/",
    "~/.netrc permissions are too open, machine entries ignored",
    "warning: no machine entry for «host» in .netrc",
    "git: netrc helper found login for machine «host», password hidden",
    "docker-machine ssh default uname -a",
    "macdef init\ncd /pub\nmget *",
    "machine config pool «svc» is «adj»",
    "time-machine default login item enabled",
    "login as the «svc» account on each machine",
    "account password login machine — the four words of the grammar",
    "pytest tests/test_netrc.py::test_machine_login_password",
    "netrc.authenticators(host) -> (login, account, password)",
    "password login is «adj» by sshd_config PasswordAuthentication no",
    "login: machine learning bootcamp, password protected notes",
    "which machine? login node «small», default queue",
    "The password login methods are: «adj», «adj»",
    "In account settings choose password, then default.",
    "default password policy: «small» characters, «small» classes",
    "password default applies when no login is given",
    "a machine account password changes every 30 days",
    '"machine": "«svc»", "login": true, "password": null',
    "no password login for account «user»",
    "User login: password, passkey or SSO",
    "We cannot log in: password manager says «adj».",
]

HARMLESS["logs"] = [
    "«ts» «level» [«svc»] token refreshed user_id=«num» expires_in=3600",
    "«ts» «level» «svc»: password reset requested for user_id=«num»",
    '[«date» «time»] production.«level»: Invalid credentials {"ip":"«ip»","user":«num»}',
    'time="«ts»" level=info msg="secret «svc»/db mounted" pod=«svc»-«hex8»',
    '{"level":"info","ts":«num».«num»,"msg":"api key rotated","key_id":"«hex8»","request_id":"«uuid»"}',
    '{"time":"«ts»","msg":"session evicted","count":«small»}',
    '«ip» - - [12/Mar/2026:«time» +0000] "POST /oauth/token HTTP/1.1" 401 «num» "-" "curl/8.5.0"',
    '«ip» - «user» [12/Mar/2026:«time» +0000] "GET /api/keys?page=«small» HTTP/2.0" 200 «num»',
    "«date» «time» UTC [«num»] LOG:  connection authorized: user=«user» database=«svc» SSL enabled",
    "sshd[«num»]: Failed password for invalid user «user» from «ip» port «num» ssh2",
    "sshd[«num»]: Accepted publickey for «user» from «ip» port «num» ssh2: ED25519 SHA256:«b64_44»",
    "kernel: audit: type=1112 uid=«num» auid=«num» ses=«num» msg='op=login acct=\"«user»\"'",
    "W«num» «time» 1 reflector.go:«line»] failed to list *v1.Secret: «sent»",
    "«svc» | «ts» warn: jwt «adj»: «sent»",
    'nginx: [emerg] cannot load certificate key "«path»/«svc».key": BIO_new_file() failed',
    "Authentication: mechanism=SCRAM-SHA-256 user=«user» ok=1 «ms»",
    "traefik: auth middleware «adj» for router «svc»@docker",
    'trace_id=«md5» span_id=«hex16» parent=«hex16» msg="«verb» token"',
    "celery.worker: Task auth.tasks.«func»[«uuid»] succeeded in «sec»: None",
    "Sidekiq JID-«hex16»«hex8» TokenCleanupJob done: «sec»",
    "fluentd: password_field is «adj», record passed through",
    (
        'Started POST "/users/password" for «ip» at «date» «time» +0000\n'
        "Processing by Devise::PasswordsController#create as HTML\n"
        '  Parameters: {"authenticity_token"=>"[FILTERED]", "user"=>{"email"=>"[FILTERED]"}}'
    ),
    '  Parameters: {"password"=>"[FILTERED]", "commit"=>"Sign in"}',
    "dbug: Microsoft.AspNetCore.Authentication[«small»] AuthenticationScheme: Cookies was not authenticated.",
    "Rotating secret «svc»-tls (age «small»d, reason: «adj»)",
    "vault: core: post-unseal setup complete, keys=«small» threshold=«small»",
    "[vault] secret/data/«svc» version «small» destroyed",
    "keycloak: type=LOGIN_ERROR, realmId=«uuid», clientId=«svc», error=invalid_user_credentials",
    "gpg-agent[«num»]: failed to unprotect the secret key: Bad passphrase",
    "dovecot: auth: passwd(«user»,«ip»): unknown user",
    "postfix/smtpd[«num»]: warning: SASL LOGIN authentication failed: «sent»",
    "redis: WRONGPASS invalid username-password pair or user is disabled.",
    "token=REDACTED user=«user» path=/v1/«table»",
    "Authorization: Bearer ***",
    "password=******** retry=«small»",
    "X-Api-Key: [hidden] status=«num»",
    'kubelet: MountVolume.SetUp succeeded for volume "kube-api-access-«hex8»"',
    "dockerd: passing secret id=npmrc to buildkit session «hex16»",
    "mqtt: client «svc»-«hex8» connected with password set, keepalive «small»",
    "«time» [«level»] Auth token source: «adj» -> env -> file",
    "CSRF token from the 'X-Csrftoken' HTTP header has incorrect length.",
    "Warning: Using a password on the command line interface can be insecure.",
]

HARMLESS["diffs"] = [
    (
        "diff --git a/«file.1» b/«file.1»\n"
        "index «sha7»..«sha7» 100644\n"
        "--- a/«file.1»\n"
        "+++ b/«file.1»\n"
        "@@ -«line»,7 +«line»,9 @@"
    ),
    (
        "-    password = models.CharField(max_length=128)\n"
        '+    password = models.CharField(_("password"), max_length=256)'
    ),
    "-  const token = req.headers['x-token'];\n+  const token = getBearer(req);",
    "+    secret: Secret[str] = field(repr=False)",
    "-  password: string;\n+  password?: string;",
    "-API_KEY=\n+API_KEY=changeme",
    "+  assert_equal 'secret', params[:secret_name]",
    '-export PASSWORD_STORE_DIR=~/.password-store\n+export PASSWORD_STORE_DIR="$XDG_DATA_HOME/pass"',
    "+func (s *Session) Token() string { return s.token }",
    '-\tif token == "" {\n+\tif len(token) == 0 {',
    "+        key: ${{ matrix.os }}-«sha7»",
    "- password: {{ .Values.password }}\n+ existingSecret: {{ .Values.existingSecret }}",
    (
        "@@ class TokenStore:\n"
        "-    def get(self, key): return self._data[key]\n"
        "+    def get(self, key, default=None): return self._data.get(key, default)"
    ),
    "Subproject commit «sha40»",
    '-"integrity": "«sri»"\n+"integrity": "«sri»"',
    "rename from auth/password.py\nrename to auth/passwords/policy.py\nsimilarity index «small»%",
    "+++ b/db/migrate/«num»_add_token_digest_to_users.rb",
    "+  add_column :users, :reset_password_token, :string",
    '-  t.string "encrypted_password", default: "", null: false',
    "+ * @param string $password The «adj» password",
    "-PasswordAuthentication yes\n+PasswordAuthentication no",
    "+    if not session.get('token'):\n+        return redirect(url_for('auth.login'))",
    " create mode 100644 secrets/.gitkeep",
    " «file» | «small» +++---\n 1 file changed, «small» insertions(+)",
    "<<<<<<< HEAD\n  token: props.token,\n=======\n  accessToken: props.token,\n>>>>>>> «branch»",
    "-        self.session = requests.Session()\n+        self.session = httpx.Client(timeout=«small»)",
    "+      password: faker.internet.password(),",
    "-    passphrase: Option<String>,\n+    passphrase: Option<SecretString>,",
    "+// TODO: «verb» the session key «adv»",
    '-  "auth": "basic"\n+  "auth": "oauth2"',
    '+<input type="password" name="pass" id="pass">',
    "-pass = 1\n+passes = «small»",
    "+- secretRef:\n+    name: «svc»-env",
    "Binary files a/«svc».key.gpg and b/«svc».key.gpg differ",
    "--- a/go.sum\n+++ b/go.sum\n+golang.org/x/crypto v«ver» h1:«b64_44»",
    "+KEY_PATTERN = re.compile(r'^key-[a-z]+$')",
    '-    token_url="/token",\n+    token_url="/auth/token",',
    "+    String token = jwtService.«verb»Token(user);",
    "-    private final String secret;\n+    private final SecretKey secret;",
]

HARMLESS["stack-traces"] = [
    (
        "Traceback (most recent call last):\n"
        '  File "«path»/auth.py", line «line», in «func»\n'
        "    token = self._«verb»(password)\n"
        "KeyError: 'password'"
    ),
    (
        "TypeError: Cannot read properties of undefined (reading 'token')\n"
        "    at «func» («path»/«noun».js:«line»:«small»)\n"
        "    at async Session.«verb» (node:internal/process/task_queues:95:5)"
    ),
    "    at com.acme.auth.TokenService.«verb»(TokenService.java:«line»)",
    (
        "    at "
        "org.springframework.security.crypto.password.DelegatingPassw"
        "ordEncoder.matches(DelegatingPasswordEncoder.java:«line»)"
    ),
    'java.lang.IllegalArgumentException: There is no PasswordEncoder mapped for the id "null"',
    (
        "panic: runtime error: index out of range [«small»] with length «small»\n"
        "\n"
        "goroutine «num» [running]:\n"
        "main.«func»(0xc000«hex8», 0x«small»)\n"
        "\t«path»/token.go:«line» +0x1a5"
    ),
    "thread 'main' panicked at src/secret.rs:«line»:«small»:\ncalled `Option::unwrap()` on a `None` value",
    "django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.",
    "ActiveSupport::MessageEncryptor::InvalidMessage: key must be «small» bytes",
    "jwt.exceptions.InvalidSignatureError: Signature verification failed",
    (
        'psycopg2.OperationalError: connection to server at "«host»", port «port» failed: fe_sendauth: no '
        "password supplied"
    ),
    "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
    "google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found.",
    (
        "sqlalchemy.exc.PendingRollbackError: This Session's transaction has been rolled back due to a "
        "previous exception during flush."
    ),
    "RuntimeError: Session is closed",
    "AttributeError: 'NoneType' object has no attribute 'password'",
    "ValueError: Invalid salt in password hash",
    (
        '  File "/usr/lib/python3.«small»/getpass.py", line «line», in unix_getpass\n'
        "    passwd = _raw_input(prompt, stream, input=input)"
    ),
    "error[E0382]: borrow of moved value: `token`\n  --> src/auth.rs:«line»:«small»",
    "error[E0599]: no method named `expose_secret` found for struct `Secret<String>`",
    "«file»:«line»: undefined: token.«noun»",
    "error TS2322: Type 'string | undefined' is not assignable to type 'password'.",
    ('mypy: «file»:«line»: error: Argument "token" has incompatible type "str | None"; expected "str"  [arg-type]'),
    "UnhandledPromiseRejection: Error: secretOrPrivateKey must have a value",
    "Error: ENOENT: no such file or directory, open '«path»/.env'",
    (
        "NoMethodError (undefined method `authenticate' for nil:NilClass):\n"
        "app/controllers/sessions_controller.rb:«line»:in `create'"
    ),
    (
        "PHP Fatal error:  Uncaught TypeError: password_verify(): Argument #2 ($hash) must be of type "
        "string, null given in «path»/Login.php:«line»"
    ),
    "System.Security.Cryptography.CryptographicException: Key not valid for use in specified state.",
    (
        "Caused by: javax.crypto.BadPaddingException: Given final block not properly padded. Such issues "
        "can arise if a bad key is used during decryption."
    ),
    "Caused by: java.security.UnrecoverableKeyException: Password verification failed",
    "EXC_BAD_ACCESS (code=1, address=0x«hex8») keychain_lookup + «num»",
    "#«small»  0x00007f«hex8» in token_next (lex=0x«hex8», key=0x0) at lexer.c:«line»",
    "==«num»==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020«hex8» in session_free",
    "fatal: Authentication failed for 'https://«host»/acme/«svc».git/'",
    "remote: Support for password authentication was removed on August 13, 2021.",
    'Exception in thread "session-«small»" java.util.ConcurrentModificationException',
    "(token) 0x«hex16» <+«num»>: callq  _auth_«verb»",
    "KeyError: \"['token', 'secret'] not in index\"",
    "assert token is not None\nAssertionError",
]

HARMLESS["markdown"] = [
    "## Passwords\n\nPasswords are hashed with argon2id and never logged.",
    "- [ ] rotate the signing key\n- [x] document session expiry",
    ("| Variable | Required | Default |\n|---|---|---|\n| `API_KEY` | yes | |\n| `SESSION_SECRET` | yes | random |"),
    "> **Note**: the token is «adj» and must be «verb»ed «adv».",
    "Set `PASSWORD` to your password, and `TOKEN` to your token.",
    "1. Open **Settings > API keys**\n2. Click **New key**\n3. Copy the key (it is shown once)",
    "See [password policy](docs/passwords.md#length) and [tokens](docs/tokens.md).",
    "```bash\nexport API_KEY=<your-api-key>\n```",
    "```yaml\npassword: YOUR_PASSWORD\ntoken: xxxxxxxx\n```",
    "The `--token` flag overrides `GITHUB_TOKEN`.",
    "### `session.«verb»(key)`\n\nReturns the «noun», or `null` when the key is «adj».",
    "Password: minimum «small» characters, one digit.",
    "* **token**: string, «adj»\n* **secret**: string, «adj»",
    "![token flow](images/token-flow.svg)",
    "`password` - *string* - the user's password",
    "Secret: a value that only two parties know.",
    "Key: `cmd+k`, then `cmd+s`",
    "Authentication: bearer token in the `Authorization` header.",
    "<details><summary>Why is my token rejected?</summary>",
    "The session key is derived from the master secret (RFC 8446, section 7.1).",
    "**Breaking:** `pass` was renamed to `password`.",
    "#### Credentials\nCredentials: see the vault of your team.",
    "- `auth.token`: «adj»\n- `auth.password`: «adj»",
    "Use a password manager: 1Password, Bitwarden or pass.",
    "A token is a word or a part of a word; GPT-4 uses about 100k tokens.",
    "Keys: public and private. Passes: first and second.",
    "This project does not store secrets: everything is «adj».",
    "Fixes #«num»: password prompt on `git push`",
    "Changelog v«ver»: the session «noun» is «adj»",
    "Default password: none. You are asked for one on first start.",
    "Password reset: click the link in the e-mail; the token expires in «small» minutes.",
    "| key | value |\n|---|---|\n| ttl | «num» |\n| mode | «adj» |",
    "API key: get one at https://console.example.com/keys",
    "Token-based auth: the client sends `X-Token: <token>`",
    "Secrets management: Vault, SOPS, sealed-secrets - pros and cons",
    "[[passkeys]] replace passwords; [[sessions]] stay",
    "Login: `user@example.com` / Password: `<see 1Password>`",
    "- **Password:** ask «user»",
    "Passphrase: use at least five random words.",
    "~~`secret_key_base`~~ is now «adj»",
]

HARMLESS["man-help"] = [
    "  -p, --password[=name]  Password to use when connecting to server.",
    "  -u, --user=name     User for login if not current user.",
    "       --password-stdin       Take the password from stdin",
    "  -t, --token string     Bearer token for authentication to the API server",
    "      --api-key KEY      API key (env: API_KEY) [required]",
    "  --secret SECRET  shared secret (default: none)",
    "       -k, --key filename\n              Read the private key from the given file.",
    "  -W, --password          force password prompt (should happen automatically)",
    "       pass:password\n              The actual password is password.",
    "       env:var   Obtain the password from the environment variable var.",
    "usage: «svc» login [-h] [--username USERNAME] [--password PASSWORD] [--token TOKEN]",
    "Usage: «svc» [OPTIONS] COMMAND [ARGS]...\n  --session TEXT  Name of the session  [default: main]",
    "SYNOPSIS\n       pass [ COMMAND ] [ OPTIONS ]... [ ARGS ]...",
    "       pass insert [ --echo, -e | --multiline, -m ] [ --force, -f ] pass-name",
    "  --passphrase-fd n      read the passphrase from file descriptor n",
    "       --passphrase string  Use string as the passphrase.",
    "  -n, --no-session       do not keep a session [boolean] [default: false]",
    "  --auth-token <token>   auth token (or set NPM_TOKEN)",
    "  -s, --secret-name=«svc»: name of the secret",
    "      --from-literal=[]: Specify a key and literal value to insert in secret (i.e. mykey=somevalue)",
    ("  kubectl create secret generic NAME [--type=string] [--from-file=[key=]source] [--from-literal=key1=value1]"),
    "  docker login [OPTIONS] [SERVER]\n  -p, --password string   Password",
    "CREDENTIALS\n       git-credential reads credentials in lines of key=value pairs.",
    "       password\n           The credential's password, if we are asking it to be stored.",
    "  --client-secret=SECRET   OAuth client secret",
    "Options:\n  -k  key file\n  -P  port\n  -t  token type: «adj», «adj»",
    "  AUTH_TOKEN       token used for requests (string, «adj»)",
    "  login       Log in to a registry\n  logout      Log out from a registry",
    "  passwd      change a user's password\n  session     manage sessions",
    "Flags:\n  -h, --help   help for token\n      --ttl duration   lifetime of the token (default 24h0m0s)",
    "     --key=<path>  Path to private key. [env var: KEY_PATH]",
    ("       IdentityFile\n               Specifies a file from which the user's authentication identity is read."),
    (
        "       PasswordAuthentication\n"
        "               Specifies whether to use password authentication. The argument must be yes (the "
        "default) or no."
    ),
    '  -password string\n    \tpassword for «host» (default "")',
    "   --token value, -t value  access token [$«svc»_TOKEN]",
    "   /user:<username>  /pass:<password>  /domain:<name>",
    "  net use X: \\\\server\\share [password | *] /user:[domain\\]user",
    "COMMANDS: key, token, session, secret. Run '«svc» help key' for more.",
    "EXAMPLES\n       $ «svc» secrets set NAME=value\n       $ «svc» secrets list",
    "  vault kv get [options] KEY\n  vault kv put [options] KEY [DATA]",
    "  -field=<string>  Print only the field with the given name.",
    "  --password=PASSWORD   «noun» password, prompts if «adj»",
    "zsh: usage: sudo [-u user] [-p prompt] [-g group] command",
]

HARMLESS["whole-outputs"] = [
    (
        "============================= test session starts ==============================\n"
        "platform linux -- Python «ver», pytest-«ver», pluggy-«ver»\n"
        "rootdir: «path»\n"
        "plugins: cov-«ver», asyncio-«ver»\n"
        "collected «num» items\n"
        "\n"
        "tests/test_auth.py::«test» PASSED [ «small»%]\n"
        "tests/test_auth.py::«test» FAILED [ «small»%]\n"
        "\n"
        "=================================== FAILURES ===================================\n"
        ">       assert user.check_password(password) is True\n"
        "E       assert False is True\n"
        "\n"
        "tests/test_auth.py:«line»: AssertionError\n"
        "=========================== short test summary info ============================\n"
        "FAILED tests/test_auth.py::«test» - assert False is True\n"
        "========================= 1 failed, «small» passed in «sec» ========================="
    ),
    (
        "services:\n"
        "  db:\n"
        "    image: «img»\n"
        "    environment:\n"
        "      POSTGRES_USER: ${DB_USER:-app}\n"
        "      POSTGRES_PASSWORD: ${DB_PASSWORD:?DB_PASSWORD is required}\n"
        "    healthcheck:\n"
        '      test: ["CMD-SHELL", "pg_isready -U ${DB_USER:-app}"]\n'
        "  web:\n"
        "    build: .\n"
        "    environment:\n"
        "      DATABASE_URL: postgres://${DB_USER:-app}:${DB_PASSWORD}@db:5432/app\n"
        "      SECRET_KEY: ${SECRET_KEY}\n"
        "    secrets:\n"
        "      - api_token\n"
        "secrets:\n"
        "  api_token:\n"
        "    file: ./secrets/api_token.txt"
    ),
    (
        "name: ci\n"
        "on: [push]\n"
        "jobs:\n"
        "  test:\n"
        "    runs-on: ubuntu-latest\n"
        "    permissions:\n"
        "      id-token: write\n"
        "    steps:\n"
        "      - uses: actions/checkout@v4\n"
        "        with:\n"
        "          token: ${{ secrets.GITHUB_TOKEN }}\n"
        "      - uses: actions/cache@v4\n"
        "        with:\n"
        "          path: ~/.cargo\n"
        "          key: ${{ runner.os }}-cargo-${{ hashFiles('**/Cargo.lock') }}\n"
        "      - run: cargo test\n"
        "        env:\n"
        "          API_KEY: ${{ secrets.API_KEY }}"
    ),
    (
        "     1\timport { z } from 'zod';\n"
        "     2\t\n"
        "     3\texport const loginSchema = z.object({\n"
        "     4\t  email: z.string().email(),\n"
        "     5\t  password: z.string().min(«small»),\n"
        "     6\t  token: z.string().optional(),\n"
        "     7\t});\n"
        "     8\t\n"
        "     9\texport async function «func»({ email, password }: Login) {\n"
        "    10\t  const user = await db.user.findUnique({ where: { email } });\n"
        "    11\t  if (!user) throw new AuthError('invalid credentials');\n"
        "    12\t  return bcrypt.compare(password, user.passwordHash);\n"
        "    13\t}"
    ),
    (
        "apiVersion: apps/v1\n"
        "kind: Deployment\n"
        "metadata:\n"
        "  name: «svc»\n"
        "spec:\n"
        "  template:\n"
        "    spec:\n"
        "      serviceAccountName: «svc»\n"
        "      containers:\n"
        "        - name: «svc»\n"
        "          image: «img»\n"
        "          env:\n"
        "            - name: DB_PASSWORD\n"
        "              valueFrom:\n"
        "                secretKeyRef:\n"
        "                  name: «svc»-db\n"
        "                  key: password\n"
        "          envFrom:\n"
        "            - secretRef:\n"
        "                name: «svc»-env"
    ),
    (
        "$ git log --stat -1\n"
        "commit «sha40»\n"
        "Author: Bob <bob@example.com>\n"
        "Date:   «date»\n"
        "\n"
        "    auth: keep the session key in the keychain\n"
        "\n"
        "    The token was kept in plain text; now the keychain holds it and the\n"
        "    password prompt is shown once per session.\n"
        "\n"
        " src/auth/keychain.ts | «small» ++++++\n"
        " src/auth/session.ts  | «small» --\n"
        " 2 files changed, «small» insertions(+), «small» deletions(-)"
    ),
    (
        "added «num» packages, and audited «num» packages in «small»s\n"
        "\n"
        "# npm audit report\n"
        "\n"
        "jsonwebtoken  <=8.5.1\n"
        "Severity: moderate\n"
        "jsonwebtoken unrestricted key type could lead to legacy keys usage\n"
        "fix available via `npm audit fix --force`\n"
        "node_modules/jsonwebtoken\n"
        "\n"
        "«small» moderate severity vulnerabilities"
    ),
    (
        "Using CLI v«ver»\n"
        "\n"
        "Usage: «svc» secrets <command>\n"
        "\n"
        "Commands:\n"
        "  list            List secrets\n"
        "  set NAME=VALUE  Set a secret\n"
        "  unset NAME      Remove a secret\n"
        "\n"
        "Options:\n"
        "  -t, --token TOKEN     Access token\n"
        "  -p, --profile NAME    Profile [default: default]\n"
        "      --password-stdin  Read the password from stdin\n"
        "  -h, --help            Print help"
    ),
    (
        "src/auth/login.ts:«line»:  const password = form.get('password');\n"
        "src/auth/login.ts:«line»:  const token = await «func»(password);\n"
        "src/auth/reset.ts:«line»:  // token: see docs/tokens.md\n"
        "src/api/keys.ts:«line»:export const apiKey = (req: Request) => req.headers.get('x-api-key');\n"
        "src/api/keys.ts:«line»:  if (!apiKey) return unauthorized();\n"
        "test/login.test.ts:«line»:  it('rejects a wrong password', async () => {\n"
        "README.md:«line»:- `SESSION_SECRET`: random string, «adj»"
    ),
    (
        "server {\n"
        "    listen «port» ssl;\n"
        "    server_name «svc».example.com;\n"
        "    ssl_certificate     /etc/ssl/«svc».crt;\n"
        "    ssl_certificate_key /etc/ssl/«svc».key;\n"
        "    ssl_session_cache   shared:SSL:«small»m;\n"
        "    ssl_session_tickets off;\n"
        '    auth_basic "Restricted";\n'
        "    auth_basic_user_file /etc/nginx/.htpasswd;\n"
        "    location / {\n"
        "        proxy_set_header Authorization $http_authorization;\n"
        "        proxy_set_header X-Api-Key $http_x_api_key;\n"
        "    }\n"
        "}"
    ),
    (
        "● «svc».service - «svc» daemon\n"
        "     Loaded: loaded (/etc/systemd/system/«svc».service; enabled)\n"
        "     Active: active (running) since «date» «time» UTC; «small»h ago\n"
        "   Main PID: «num» («svc»)\n"
        "      Tasks: «small»\n"
        "     CGroup: /system.slice/«svc».service\n"
        "             └─«num» /usr/bin/«svc» --config /etc/«svc».toml --token-file /run/token\n"
        "\n"
        "«time» «svc»[«num»]: session «hex8» opened\n"
        "«time» «svc»[«num»]: auth: password method «adj»"
    ),
    (
        "  Column   |            Type             | Nullable | Default\n"
        "-----------+-----------------------------+----------+---------\n"
        " id        | bigint                      | not null |\n"
        " email     | character varying(255)      | not null |\n"
        " password  | character varying(255)      | not null |\n"
        " token     | text                        |          |\n"
        " last_used | timestamp without time zone |          |\n"
        "Indexes:\n"
        '    "«table»_pkey" PRIMARY KEY, btree (id)\n'
        '    "«table»_token_key" UNIQUE CONSTRAINT, btree (token)'
    ),
    (
        "PASS: basics (12 checks)\n"
        "PASS: tokens («small» checks)\n"
        "FAIL: sessions (1 of «small»)\n"
        "  expected: closed\n"
        "  actual:   open\n"
        "PASS|credentials|«small»|0\n"
        "PASS|keyring|«small»|0\n"
        "\n"
        "RESULT: pass=«num» fail=1 skip=«small»\n"
        "session checkpoint_type=session checkpoint_id=«uuid»"
    ),
    (
        "Plan: «small» to add, «small» to change, 0 to destroy.\n"
        "\n"
        "  # aws_db_instance.«svc» will be updated in-place\n"
        '  ~ resource "aws_db_instance" "«svc»" {\n'
        '        id                  = "«svc»-db"\n'
        "      ~ password            = (sensitive value)\n"
        '        username            = "app"\n'
        "      ~ iam_authentication  = false -> true\n"
        "    }\n"
        "\n"
        "  # random_password.«svc» will be created\n"
        '  + resource "random_password" "«svc»" {\n'
        "      + length  = «small»\n"
        "      + result  = (sensitive value)\n"
        "      + special = true\n"
        "    }"
    ),
    (
        "<template>\n"
        '  <form @submit.prevent="login">\n'
        '    <input v-model="email" type="email" />\n'
        '    <input v-model="password" type="password" :class="{ bad: errors.password }" />\n'
        '    <PasswordMeter :password="password" />\n'
        "    <button :disabled=\"!password || loading\">{{ t('login.submit') }}</button>\n"
        "  </form>\n"
        "</template>\n"
        '<script setup lang="ts">\n'
        "const password = ref('');\n"
        "const token = useCookie('token');\n"
        "async function login() { token.value = await «func»(email.value, password.value); }\n"
        "</script>"
    ),
    (
        "Host «svc»\n"
        "    HostName «ip»\n"
        "    User «user»\n"
        "    Port 22\n"
        "    IdentityFile ~/.ssh/id_ed25519\n"
        "    PasswordAuthentication no\n"
        "    PreferredAuthentications publickey\n"
        "    ControlPath ~/.ssh/cm-%r@%h:%p"
    ),
    (
        '"scripts": {\n'
        '  "test": "vitest run",\n'
        '  "auth:token": "node scripts/token.js --scope read",\n'
        '  "secrets:check": "gitleaks dir . --no-banner"\n'
        "},\n"
        '"dependencies": {\n'
        '  "jsonwebtoken": "^«ver»",\n'
        '  "express-session": "^«ver»",\n'
        '  "passport": "^«ver»",\n'
        '  "keytar": "^«ver»"\n'
        "}"
    ),
    (
        "TOKEN      TYPE     SCOPE   LAST USED\n"
        "ci-read    service  read    «small» days ago\n"
        "deploy     service  write   never\n"
        "«svc»      user     admin   «date»\n"
        "\n"
        "«small» tokens. Values are shown once, when a token is created."
    ),
    (
        "#!/usr/bin/env bash\n"
        "set -euo pipefail\n"
        ': "${API_TOKEN:?set API_TOKEN}"\n'
        'USER="${USER:-deploy}"\n'
        'password="$(cat /run/secrets/db_password)"\n'
        'export PGPASSWORD="$password"\n'
        "psql -U \"$USER\" -h «host» -c 'select 1'\n"
        'curl -fsS -u "$USER:$API_TOKEN" "https://«host»/deploy?at=$(date -u +%s)"\n'
        "unset PGPASSWORD password"
    ),
    (
        "Found «num» matches in «small» files\n"
        "«file»\n"
        "  «line»: password: string;\n"
        "  «line»: secret?: string | null;\n"
        "  «line»: readonly token: Token = Token.none();\n"
        "«file»\n"
        "  «line»: key: keyof Session\n"
        "  «line»: session: Session['id']"
    ),
    (
        "I looked at how the session token is handled.\n"
        "\n"
        "1. `«func»` reads the password from the prompt.\n"
        "2. The key is derived with scrypt, so the password itself is not kept.\n"
        "3. The token: stored in memory only, «adj».\n"
        "\n"
        "The bug: the session key is compared before the token is «verb»ed. I'll pass the key explicitly "
        "and add a test (`«test»`)."
    ),
]
