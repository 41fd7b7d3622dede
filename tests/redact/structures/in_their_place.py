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
"""

IN_THEIR_PLACE["given to a command in a list of arguments"] = r"""
command: ["redis-server", "--requirepass", "¤"]
subprocess.run(["sshpass", "-p", "¤", "ssh", "host"])
execFile('mysql', ['-u', 'root', '-p¤', 'shop'])
      - --requirepass¶      - ¤
"""

IN_THEIR_PLACE["piped into what reads a password"] = r"""
echo '¤' | kinit ada@ACME.INTERNAL
echo -n '¤' | gpg --batch --passphrase-fd 0 -d a.gpg
echo -e '¤\n¤' | passwd ada
printf '¤' | kubeseal --raw --name db
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
"""

IN_THEIR_PLACE["cookies that are kept"] = r"""
{"cookies":[{"name":"sid","value":"¤¤","domain":"app.internal","path":"/","httpOnly":true,"sameSite":"Lax"}]}
[{"domain":".app.internal","expirationDate":1790000000.12,"hostOnly":false,"httpOnly":true,"name":"sid","path":"/","sameSite":"lax","secure":true,"session":false,"storeId":"0","value":"¤¤","id":1}]
[¶  {¶    "hostOnly": true,¶    "httpOnly": true,¶    "name": "sid",¶    "secure": true,¶    "value": "¤¤"¶  }¶]
#HttpOnly_.app.internal	TRUE	/	TRUE	1790000000	sid	¤¤
"""
