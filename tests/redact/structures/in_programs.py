"""Secrets in programs, in lists and in sentences that go on: `[]byte("X")`, `- X`, `the token I generated is X`.

One template per line, as in `usual`: `¤` stands for a secret that was chosen or drawn, `¤¤` for one that was drawn, `¶`
for a line break.
"""

from __future__ import annotations

IN_PROGRAMS: dict[str, str] = {}

IN_PROGRAMS["strings that a program makes"] = r"""
var jwtKey = []byte("¤¤")
secret := []byte("¤¤")
let token = String::from("¤¤");
let api_key = String::from("¤¤");
let pw = SecretString::new("¤".into());
const secret = new TextEncoder().encode('¤¤');
const secret = Buffer.from('¤¤', 'utf8');
secret = bytes("¤¤", "utf-8")
token = bytes.fromhex("¤¤")
token = base64.b64decode("¤¤")
pub const TOKEN: &'static str = "¤¤";
const ACCESS_TOKEN: &'a str = "¤¤";
crypto.createHmac('sha256', '¤¤')
crypto.createDecipheriv('aes-256-cbc', '¤¤', iv)
hmac.New(sha256.New, []byte("¤¤"))
new SecretKeySpec("¤¤".getBytes(), "AES");
AES.new(b"¤¤", AES.MODE_GCM)
fernet = Fernet(b"¤¤")
"""

IN_PROGRAMS["the second or third argument"] = r"""
DriverManager.getConnection("jdbc:mysql://db:3306/app", "kim", "¤");
new UsernamePasswordAuthenticationToken("kim", "¤");
let client = Client::new().basic_auth("kim", Some("¤"));
$pdo = new PDO('mysql:host=db;dbname=app', 'kim', '¤');
const sequelize = new Sequelize('app', 'kim', '¤', { dialect: 'postgres' });
"""

IN_PROGRAMS["escaped by Gson"] = r"""
{"cmd":"export DB_PASSWORD\u003d¤"}
{"url":"jdbc:mysql://db/app?user\u003dkim\u0026password\u003d¤\u0026ssl\u003dtrue"}
{"line":"API_TOKEN\u003d\u0027¤¤\u0027"}
"password"\u003a "¤"
"""

IN_PROGRAMS["told in a longer sentence"] = r"""
i changed the password from old to ¤
the password is now ¤
The API key is currently ¤¤ but will change.
JWT_SECRET is still ¤¤
the token I generated is ¤¤
the key you asked for: ¤¤
the password we use is ¤
the secret key I generated: ¤¤
Das Passwort für die Datenbank lautet ¤
Das Kennwort vom Server ist ¤
le mot de passe pour la base est ¤
la contraseña para el usuario es ¤
het wachtwoord voor de database is ¤
basic auth is kim:¤
"""

IN_PROGRAMS["of somebody, in other languages"] = r"""
Het wachtwoord van de server is ¤, log even in
Lösenordet till servern är ¤, logga in
Veritabanı şifresi ¤, bağlan
voici la clé d'API : ¤¤
"""

IN_PROGRAMS["told with what it is for, and in other languages"] = r"""
the password for the database is ¤
my password for the server is ¤
a senha do servidor é ¤
le jeton d'accès est ¤¤
der API-Schlüssel ist ¤¤
la clave de API es ¤¤
nimm ¤ als Passwort
usa ¤ come password
usa ¤ como contraseña
connecte-toi avec ada et ¤
my db password's ¤, use it for the migration
the root password was changed to ¤ yesterday
"""
