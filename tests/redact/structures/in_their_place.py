"""Secrets that commands, calls, rows and cookies hold by their place: `mc alias set s3 URL ada X`, `bcrypt.hash('X')`.

One template per line, as in `usual`: `¤` stands for a secret that was chosen or drawn, `¤¤` for one that was drawn, `¶`
for a line break.
"""

from __future__ import annotations

IN_THEIR_PLACE: dict[str, str] = {}

IN_THEIR_PLACE["given to a command by its place"] = r"""
rabbitmqctl add_user worker '¤'
rabbitmqctl change_password worker ¤¤
mc alias set prod https://s3.internal worker ¤¤
mc admin user add prod worker ¤¤
bw unlock '¤' --raw
bw login ada@acme.internal '¤'
cargo login ¤¤
mosquitto_passwd -b users.txt ada '¤'
drush user:password admin '¤'
rclone obscure '¤'
dscl . -passwd /Users/ada '¤'
networksetup -setairportnetwork en0 Acme '¤'
pulumi config set --secret dbPassword '¤'
openssl passwd -6 '¤'
mkpasswd -m sha-512 '¤'
net use Z: \\files\share '¤' /user:ada
nuget push a.nupkg ¤¤ -Source https://nuget.internal
vault kv put secret/app user=ada api=x db='¤'
rootpw --plaintext ¤
"""

IN_THEIR_PLACE["given to a command after a short flag"] = r"""
security unlock-keychain -p '¤' build.keychain
security import a.p12 -k build.keychain -P '¤' -T /usr/bin/codesign
security set-key-partition-list -S apple-tool:,apple: -s -k '¤' build.keychain
mosquitto_pub -h mq.internal -u ada -P '¤' -t a -m b
az sql server create -n db -g rg -u ops -p '¤' -l westeurope
az postgres flexible-server create -n db -u ops -p '¤'
dotnet nuget add source https://nuget.internal -n acme -u ci -p ¤¤
dotnet nuget push a.nupkg -k ¤¤ -s https://nuget.internal
codecov -t ¤¤
cypher-shell -u neo4j -p '¤' 'return 1'
cf login -a https://api.internal -u ops -p '¤' -o acme
ssh-keygen -t ed25519 -N '¤' -f id
openssl dgst -sha256 -hmac '¤' a.txt
influx config create -n prod -u https://influx.internal -o acme -t ¤¤ -a
ldappasswd -D cn=admin -W -s '¤' uid=ada
psexec \\host -u ops -p '¤' cmd
caddy hash-password --plaintext '¤'
swaks --to ada@acme.internal -au ada -ap '¤' -s smtp.internal
beeline -u jdbc:hive2://hive.internal:10000 -n ada -p '¤'
mcrcon -H game.internal -p '¤' list
curl -u "$ACME_USER:¤" https://api.internal
open -u ada,¤ ftp.internal
"""

IN_THEIR_PLACE["given to a command in a list of arguments"] = r"""
command: ["redis-server", "--requirepass", "¤"]
subprocess.run(["sshpass", "-p", "¤", "ssh", "host"])
execFile('mysql', ['-u', 'root', '-p¤', 'shop'])
      - --requirepass¶      - ¤
    "Cmd": [¶        "redis-server",¶        "--requirepass",¶        "¤"¶    ],
"""

IN_THEIR_PLACE["piped into what reads a password"] = r"""
echo '¤' | kinit ada@ACME.INTERNAL
echo -n '¤' | gpg --batch --passphrase-fd 0 -d a.gpg
echo -e '¤\n¤' | passwd ada
printf '¤' | kubeseal --raw --name db
printf '%s' '¤' | gpg --batch --passphrase-fd 0 -d a.gpg
echo '¤' | zfs load-key tank/home
echo "::add-mask::¤"
"""

IN_THEIR_PLACE["hashed or inserted"] = r"""
const hash = await bcrypt.hash('¤', 10);
bcrypt.hashpw(b"¤", bcrypt.gensalt())
'password' => Hash::make('¤'),
echo password_hash('¤', PASSWORD_BCRYPT);
User.objects.create_superuser('admin', 'admin@acme.internal', '¤')
INSERT INTO users (name, password) VALUES ('ada', '¤');
INSERT INTO `users` (`id`, `mail`, `password`) VALUES (1, 'a@acme.internal', 'x1'), (2, NULL, '¤');
db.auth("root", "¤")
WiFi.begin("Acme", "¤");
UPDATE users SET pw_hash = crypt('¤', gen_salt('bf'));
SELECT pgp_sym_decrypt(note, '¤¤') FROM notes;
hmac.new(b"¤¤", body, hashlib.sha256)
OpenSSL::HMAC.hexdigest('SHA256', '¤¤', body)
app.use(cookieParser('¤¤'));
"""

IN_THEIR_PLACE["cookies that are kept"] = r"""
{"cookies":[{"name":"sid","value":"¤¤","domain":"app.internal","path":"/","httpOnly":true,"sameSite":"Lax"}]}
[{"domain":".app.internal","expirationDate":1790000000.12,"hostOnly":false,"httpOnly":true,"name":"sid","path":"/","sameSite":"lax","secure":true,"session":false,"storeId":"0","value":"¤¤","id":1}]
[¶  {¶    "hostOnly": true,¶    "httpOnly": true,¶    "name": "sid",¶    "secure": true,¶    "value": "¤¤"¶  }¶]
#HttpOnly_.app.internal	TRUE	/	TRUE	1790000000	sid	¤¤
"""

IN_THEIR_PLACE["kept by devices and servers"] = r"""
config system admin¶    edit "ada"¶        set password ENC ¤¤¶    next
set vpn ipsec site-to-site peer 10.0.0.4 authentication pre-shared-secret ¤
set snmp community ¤ authorization read-only
ada : EAP "¤"
user ada on >¤ ~* +@all
remotepass = ¤
[smtp.internal]:587 ada@acme.internal:¤
======= Data =======¶Key       Value¶---       -----¶db        ¤¶stripe    ¤¤
"""

IN_THEIR_PLACE["said to a server"] = r"""
USER ada¶331 Password required¶PASS ¤¶230 Logged in
ftp> quote PASS ¤
a1 LOGIN ada@acme.internal "¤"
GET https://api.internal¶Authorization: Basic ada ¤¶
"""

IN_THEIR_PLACE["dumped, serialized or escaped"] = r"""
  ["password"]=>¶  string(14) "¤"
a:2:{s:4:"user";s:3:"ada";s:8:"password";s:14:"¤";}
Config { user: "ada", token: Some("¤¤") }
Config {¶    password: Some(¶        "¤",¶    ),¶}
&lt;password&gt;¤&lt;/password&gt;
{"xml":"\u003cpassword\u003e¤\u003c/password\u003e"}
<AutoLogon><Password><Value>¤</Value></Password></AutoLogon>
Parameters:¶  DbPassword:¶    Type: String¶    NoEcho: true¶    Default: ¤
"""

IN_THEIR_PLACE["codes in the path of a URL"] = r"""
https://app.internal/reset-password/¤¤
https://app.internal/invite/¤¤
https://calendar.internal/ical/ada%40acme.internal/private-¤¤/basic.ics
"""
