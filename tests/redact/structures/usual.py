"""Secrets as people come across them: told, typed into forms, printed in tables, named in other languages, wrapped.

One template per line; `¤` stands for a secret that was chosen or drawn, `¤¤` for one that was drawn, and `¶` for a line
break. `wrapped` breaks a text over lines as terminals, mails, editors and formats do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

USUAL: dict[str, str] = {}

USUAL["told in a prompt"] = r"""
sign in as ada@acme.test using the password ¤
the username is bob and the password is ¤
username: bob password: ¤
username bob, password ¤
user bob pass ¤
user is bob, pw is ¤
my password is ¤
the password should be ¤
the password has been set to ¤
I changed the password to ¤
password was reset to ¤
with password '¤'
with the passphrase ¤
the passphrase is ¤
the PIN is 4821 and the password ¤
db creds: app / ¤
db login app:¤
database user is app, password ¤, host db.internal
ssh into 10.0.3.4 as root, pw ¤
ssh root@10.0.3.4 (password: ¤)
here are the credentials: bob / ¤
here's the login: bob ¤
login: bob
password: ¤
test user: qa@acme.test / ¤
test account qa@acme.test with password ¤
Test credentials are qa@acme.test and ¤.
admin account: admin@acme.test ¤
wifi password is ¤
the wifi is Acme-Guest and the key is ¤
my api key is ¤¤
here is my token: ¤¤
here is the token ¤¤
use this api key: ¤¤
use ¤¤ as the API key
the api key for staging is ¤¤
here is the api key for the geocoder: ¤¤
usa esta clave de la API: ¤¤
auth with ¤¤
authenticate with token ¤¤
the secret is ¤
its secret is ¤¤
the client secret is ¤¤
the shared secret should be ¤
the sudo password is ¤
sudo password on that box: ¤
root password is ¤ on all of them
password=¤ user=bob
pwd ¤
creds bob:¤
credentials are bob:¤
bob's password is ¤
the default login is admin/¤
default credentials admin:¤
I set it up with user admin and password ¤
sign in with username ada and password ¤
password for ada is ¤
the pw for the db is ¤
the old password ¤ no longer works, the new one is ¤
the keystore password is ¤
vault password: ¤
Das Passwort lautet ¤
le mot de passe est ¤
la contraseña es ¤
a senha é ¤
la password è ¤
het wachtwoord is ¤
lösenordet är ¤
hasło to ¤
"""

USUAL["typed into a form"] = r"""
await page.fill('#password', '¤');
await page.fill("input[name='password']", "¤")
await page.locator('#password').fill('¤');
await page.getByLabel('Password').fill('¤')
await page.getByPlaceholder('Enter your password').fill('¤');
await page.getByTestId('login-password').fill('¤')
await page.getByRole('textbox', { name: 'Password' }).fill('¤');
page.get_by_role("textbox", name="Password").fill("¤")
page.get_by_placeholder("Password").press_sequentially("¤", delay=50)
page.locator("input[type=password]").type("¤")
page.type('#password', '¤', { delay: 20 })
await page.type('input[type="password"]', '¤');
await page.keyboard.type('¤'); // password
await passwordField.type('¤');
await passwordInput.fill('¤')
await this.passwordInput.fill("¤");
password_field.send_keys("¤")
password_input.send_keys('¤', Keys.RETURN)
driver.find_element(By.ID, "password").send_keys("¤")
driver.find_element(By.NAME, 'passwd').send_keys('¤')
driver.find_element_by_id("password").send_keys("¤")
driver.findElement(By.id("password")).sendKeys("¤");
driver.findElement(By.cssSelector("input[type='password']")).sendKeys("¤");
driver.FindElement(By.Id("Password")).SendKeys("¤");
driver.find_element(id: 'password').send_keys('¤')
WebDriverWait(driver, 10).until(EC.visibility_of_element_located((By.ID, "password"))).send_keys("¤")
elem = driver.find_element(By.ID, "password")
elem.clear()
pw = browser.find_by_name('password'); pw.fill('¤')
browser.fill('password', '¤')
cy.get('#password').type('¤');
cy.get('[data-cy=password]').clear().type('¤{enter}')
cy.get('input[name="password"]').should('be.visible').type('¤', { log: false })
cy.findByLabelText(/password/i).type('¤')
cy.login('ada@acme.test', '¤')
fill_in 'Password', with: '¤'
fill_in "user[password]", with: "¤"
find('#user_password').set('¤')
find_field('Password').set "¤"
find_field('Password').send_keys('¤')
I.fillField('Password', '¤');
I.fillField('password', secret('¤'));
$this->fillField('password', '¤');
$I->fillField('#password', '¤');
$browser->type('password', '¤')->press('Login');
->type('password', '¤')
await $('#password').setValue('¤');
await $('~password').addValue('¤')
browser.setValue('input[type=password]', '¤')
await t.typeText('#password', '¤');
.typeText('input[name=password]', '¤')
await userEvent.type(screen.getByLabelText('Password'), '¤');
await user.type(screen.getByLabelText(/password/i), '¤')
fireEvent.change(screen.getByPlaceholderText('Password'), { target: { value: '¤' } });
fireEvent.change(passwordInput, {target: {value: "¤"}})
wrapper.find('input[type="password"]').setValue('¤')
Input Text    id:password    ¤
Input Password    id=password    ¤
Input Password    name:pw    ¤
Fill Text    css=#password    ¤
Fill Secret    id=password    ¤
Type Text    id=password    ¤
TypeText    Password    ¤
document.querySelector('#password').value = '¤';
document.getElementById("password").value = "¤"
document.querySelector('input[type=password]').value='¤'
$('#password').val('¤');
$("input[name=password]").val("¤")
page.evaluate("document.querySelector('#password').value = '¤'")
await page.$eval('#password', el => el.value = '¤');
await page.$eval('input[type=password]', (el, v) => el.value = v, '¤')
await tester.enterText(find.byKey(Key('password')), '¤');
await tester.enterText(find.byType(PasswordField), '¤')
onView(withId(R.id.password)).perform(typeText("¤"), closeSoftKeyboard());
onView(withId(R.id.password)).perform(replaceText("¤"))
composeTestRule.onNodeWithTag("password").performTextInput("¤")
app.secureTextFields["Password"].typeText("¤")
let passwordField = app.secureTextFields["Password"]
passwordField.tap()
passwordField.typeText("¤")
await element(by.id('password')).typeText('¤');
await element(by.id('password')).replaceText("¤")
- tapOn: "Password"
mobile_element = driver.find_element(AppiumBy.ACCESSIBILITY_ID, "password"); mobile_element.send_keys("¤")
page.FillAsync("#password", "¤");
await Page.GetByLabel("Password").FillAsync("¤");
page.getByLabel("Password").fill("¤");
page.locator("#password").pressSequentially("¤");
br['password'] = '¤'
br.form['password'] = '¤'
form["password"] = "¤"
form.password = '¤'
mechanize.form.field_with(name: 'password').value = '¤'
page.MustElement("#password").MustInput("¤")
chromedp.SendKeys(`#password`, "¤", chromedp.ByID)
chromedp.SetValue("input[name=password]", "¤")
agent-browser fill "#password" "¤"
agent-browser fill @e4 "¤" # Password
browser-use input 4 "¤"   # password field
{"selector": "#password", "value": "¤"}
{"selector": "input[type='password']", "text": "¤"}
{"element": "Password field", "ref": "e12", "text": "¤", "submit": true}
{"fields": [{"name": "Password", "type": "textbox", "ref": "e9", "value": "¤"}]}
{"label": "Password", "content": "¤"}
{"target": "password input", "content": "¤"}
{"action": "type", "target": "#password", "text": "¤"}
{"action":"fill","selector":"input#pwd","value":"¤"}
{"type": "fill", "locator": "//input[@type='password']", "value": "¤"}
{"xpath": "//*[@id='password']", "text": "¤"}
pyautogui.write('¤')  # password
child.expect('assword:'); child.sendline("¤")
expect "*?assword:*"
p.expect_exact('Password: ')
echo '¤' | sudo -S apt update
sshpass -p '¤' ssh root@host
printf '%s\n' '¤' | passwd --stdin bob
"""

USUAL["in a table"] = r"""
| Environment | User | Password |¶|---|---|---|¶| staging | bob | ¤ |
| Service | URL | Login | Pass |¶|---------|:---:|------:|------|¶| Grafana | https://g.acme.test | admin | `¤` |
| key | value |¶| --- | --- |¶| DB_PASSWORD | ¤ |
| Field | Value |¶|---|---|¶| Username | bob |¶| Password | `¤` |
| **Password** | **¤** |
Username | Password¶-------- | --------¶bob      | ¤
 id | username |   password    ¶----+----------+---------------¶  1 | bob      | ¤
-[ RECORD 1 ]-----------¶id       | 1¶password | ¤
id|username|password|role¶1|bob|¤|admin
id          username    password    ¶----------  ----------  ----------------¶1           bob         ¤
┌────┬──────┬────────────────┐¶│ id │ name │ password       │¶├────┼──────┼────────────────┤¶│ 1  │ bob  │ ¤ │
└────┴──────┴────────────────┘¶╔══════╤════════════╗¶║ user │ password   ║¶╠══════╪════════════╣¶║ bob  │ ¤ ║
╚══════╧════════════╝¶┌─id─┬─password─────┐¶│  1 │ ¤ │
lease_duration      1h¶password            ¤
username            v-token-app¶Key              Value¶---              -----¶token            hvs.¤¤
====== Data ======¶Key         Value¶---         -----¶password    ¤
name,email,password¶Bob,bob@acme.test,¤
"name","email","password"¶"Bob","bob@acme.test","¤"
name;email;password¶Bob;bob@acme.test;¤
url,username,password,note¶https://acme.test,bob,"¤",
"Group","Title","Username","Password","URL"¶"Root","Acme","bob","¤","https://acme.test"
Title,Url,Username,Password,OTPAuth¶Acme,https://acme.test,bob,¤,
User name,Password,Access key ID,Secret access key,Console login link¶bob,¤,,,https://1.signin
NAME     TOKEN                          AGE¶deploy   ¤¤   3d
NAME         VALUE¶API_TOKEN    ¤¤
DB_PASS      ¤
=== ⬢ app Config Vars¶DATABASE_URL:  postgres://u:¤¤@h/db
SECRET_KEY:    ¤¤
Username    Password¶--------    --------¶bob         ¤
UserName  : bob¶Password  : ¤
Name                           Value¶----                           -----¶DB_PASSWORD                    ¤
+------+------------------+¶sqlite> .mode line¶      id = 1¶password = ¤
 Column  | Value¶---------+--------¶ api_key | ¤¤
<table><tr><td>Password</td><td>¤</td></tr></table>
<td>Password:</td><td><code>¤</code></td>
Service	User	Password¶grafana	admin	¤
"""

USUAL["named in another language"] = r"""
비밀번호: ¤
비밀번호는 ¤입니다
비밀번호 : ¤
패스워드는 ¤ 이에요
암호: ¤
API 키: ¤¤
토큰: ¤¤
관리자 비번은 ¤ 임
아이디: bob / 비밀번호: ¤
パスワード: ¤
パスワードは「¤」です
パスワードは ¤ です。
パスワード：¤
ログインパスワード: ¤
ユーザー名: bob パスワード: ¤
APIキー: ¤¤
APIキーは ¤¤ です
アクセストークン：¤¤
シークレットキー: ¤¤
密码：¤
密码: ¤
密码是¤
密码是 ¤
密码为：¤
数据库密码：¤
登录密码 ¤
用户名 bob 密码 ¤
用户名：bob，密码：¤
账号 admin 密码 ¤
账号：admin
密码：¤
默认密码为 ¤
初始密码是：¤
口令：¤
密鑰：¤¤
密碼：¤
密碼是 ¤
訪問令牌：¤¤
API密钥：¤¤
密钥是 ¤¤
我的 token 是 ¤¤
Пароль: ¤
пароль ¤
Пароль от базы: ¤
пароль: "¤"
Логин: bob Пароль: ¤
логин bob, пароль ¤
логин admin / пароль ¤
мой пароль ¤
пароль — ¤
пароль - ¤
Токен: ¤¤
токен ¤¤
Ключ API: ¤¤
API-ключ: ¤¤
секретный ключ: ¤¤
Секрет: ¤¤
Пароль администратора: ¤
Κωδικός: ¤
Κωδικός πρόσβασης: ¤
ο κωδικός είναι ¤
סיסמה: ¤
הסיסמה היא ¤
סיסמא: ¤
كلمة المرور: ¤
كلمة السر: ¤
كلمة المرور هي ¤
رمز عبور: ¤
گذرواژه: ¤
رمز: ¤
पासवर्ड: ¤
पासवर्ड है ¤
पासवर्ड ¤ है
रहस्य कुंजी: ¤¤
รหัสผ่าน: ¤
รหัสผ่านคือ ¤
รหัส: ¤
Mật khẩu: ¤
mật khẩu là ¤
mat khau: ¤
Şifre: ¤
şifre ¤
Parola: ¤
parolă: ¤
Hasło: ¤
hasło: ¤
Heslo: ¤
Jelszó: ¤
Salasana: ¤
Lösenord: ¤
Passord: ¤
Adgangskode: ¤
Wachtwoord: ¤
Kennwort: ¤
Zugangsdaten: bob / ¤
Mot de passe : ¤
mot de passe: ¤
Clé API : ¤¤
Jeton: ¤¤
Contraseña: ¤
Clave: ¤
Clave de API: ¤¤
Senha: ¤
Chave de API: ¤¤
Password: ¤
Parolă: ¤
Lozinka: ¤
Kata sandi: ¤
Sandi: ¤
Katalaluan: ¤
Slaptažodis: ¤
Geslo: ¤
Лозинка: ¤
Парола: ¤
Гасло: ¤
Нууц үг: ¤
Құпия сөз: ¤
პაროლი: ¤
Գաղտնաբառ: ¤
পাসওয়ার্ড: ¤
கடவுச்சொல்: ¤
పాస్‌వర్డ్: ¤
ಪಾಸ್‌ವರ್ಡ್: ¤
പാസ്‌വേഡ്: ¤
ססמה: ¤
"""


def wrapped(name: str, value: str, seed: int) -> Iterator[tuple[str, str]]:
    """The ways in which a value is broken over lines, each with its text."""
    chance = random.Random(f"{seed}{name}")
    width = max(14, min(chance.choice([20, 24, 32, 40]), len(value) // 2 + 1))
    first = chance.randrange(12, width + 1)
    ragged = [value[:first], *(value[at : at + width] for at in range(first, len(value), width))]
    even = [value[at : at + width] for at in range(0, len(value), width)]
    yield "terminal", f"{name}=" + "\n".join(ragged) + "\n$ ls"
    yield "terminal, other line ends", f"{name}=" + "\r\n".join(ragged) + "\r\nok"
    yield "frame", "\n".join(f"\u2502 {line:<60} \u2502" for line in [f"{name}={ragged[0]}", *ragged[1:]])
    yield "table", "\n".join(f"| {line:<60} |" for line in [f"{name}={ragged[0]}", *ragged[1:]])
    yield "mail", f"> {name}: " + "\n> ".join(ragged) + "\n> thanks"
    yield "quoted-printable", f"{name}=3D" + "=\n".join(ragged) + "\nBye"
    yield "shell", f"export {name}=" + "\\\n".join(ragged) + "\necho"
    yield "shell, indented", f'curl -H "{name}: ' + "\\\n  ".join(ragged) + '" https://x.test'
    yield "folded YAML", f"{name}: >-\n  " + "\n  ".join(even) + "\nother: 1"
    yield "literal YAML", f"{name}: |\n  " + "\n  ".join(even) + "\nother: 1"
    yield "plain YAML", f"{name}: " + "\n  ".join(even) + "\nother: 1"
    yield "quoted YAML", f'{name}: "' + "\\\n  ".join(even) + '"\nother: 1'
    yield "Python", f'{name} = (\n    "' + '"\n    "'.join(even) + '"\n)'
    yield "JavaScript", f"const {name} = '" + "' +\n  '".join(even) + "';"
    yield "escaped", f'"{name}: ' + "\\n".join(ragged) + '\\n"'
    yield "own lines", f"Your {name} is:\n\n    " + "\n    ".join(even) + "\n"
    yield "comment", f"# {name}=" + "\n# ".join(ragged) + "\nx=1"
    yield "diff", f"+{name}=" + "\n+".join(ragged) + "\n+x=1"
    yield "numbered", "\n".join(f"{at:6}\t{line}" for at, line in enumerate([f"{name}={ragged[0]}", *ragged[1:]], 12))
    yield "cmd.exe", f"set {name}=" + "^\n".join(ragged) + "\r\necho"
    yield "PowerShell", f'$env:{name}="' + "`\n".join(ragged) + '"'
