// What redaction removes and what it leaves, however a text is cut, coloured or redacted again.
// Secrets of every kind in real outputs are those of test/host/secrets.test.ts.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { redact } from "../../src/text/redact/redact.ts"
import { line } from "../../src/text/sanitize.ts"
import { plantsOf, searcher } from "../support/planted.ts"

/** Lines that mention secrets, or look like one, and hold none. */
const HARMLESS = [
  "echo $PASSWORD wrong17horse",
  "password: string",
  "password?: string;",
  "token = getToken()",
  "const secret = process.env.X",
  "const token = req.headers.authorization",
  "max_tokens: 4096",
  "tokens: 12345",
  '"token": null',
  '<input type="password" name="password" placeholder="Enter password">',
  "{{ csrf_token }}",
  "id-token: write",
  "key: value",
  "commit 3f786850e387550fdab836ed7e6dc881de23001b",
  '"integrity": "sha512-k7vvKPbf7J2fZ5klGRD9AeKfUvojuZIQ3BT5u7Jfv+puwXkUBUT5PCyMDfJZpSk30kFDjdxX19mK=="',
  "image: repo/app@sha256:9b2f6c5b8d1f3a7c4e5d6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70819",
  "id: 550e8400-e29b-41d4-a716-446655440000",
  "session: ses_01hxyzabc9defghijk",
  "function verifyPassword(password: string, hash: string): Promise<boolean> {",
  'if (!token) throw new Error("token missing")',
  "const password = await bcrypt.hash(input, 10)",
  'expect(screen.getByLabelText("Password")).toBeVisible()',
  '"password": "Password",',
  '"forgotPassword": "Forgot your password?",',
  "The token is expired",
  "password is required",
  "password_field = forms.CharField(widget=forms.PasswordInput)",
  "secretName: my-tls-secret",
  "secretKeyRef:",
  "export const TOKEN_LIMIT = 20000",
  "token_count=812",
  "apiKey: process.env.OPENAI_API_KEY,",
  'api_key=os.environ["OPENAI_API_KEY"]',
  "export API_KEY=$OTHER_KEY",
  "password: \u0024{{ secrets.DB_PASSWORD }}",
  "password = var.db_password",
  "token: <your token>",
  "Authorization: Bearer $TOKEN",
  "Authorization: Bearer <token>",
  "Authorization: `Bearer \u0024{token}`",
  'curl -H "Authorization: Bearer $API_TOKEN" https://x.y',
  "keys: a, b, c",
  "primary_key: id",
  "foreign_key=user_id",
  "cache-key: node-modules-v1",
  'const key = "user:1:name"',
  "for (const [key, value] of Object.entries(env)) {",
  "public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJz8yYl0Nqv1f3gH9kPqLmZx7TtQbW2sR4uV6yXcEaBd dev@host",
  "https://localhost:3000/@vite/client",
  // names with a version, and of short words
  "if (isHostV2(host)) return",
  'export const ZodIPv4 = core.$constructor("ZodIPv4")',
  'expect(typeof schema.validate).toBeTypeOf("function")',
  "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3",
  "Kubernetes v1.29.2+k3s1",
  '"plugin": ["skills@git+https://github.com/entireio/skills.git#v0.1.0"]',
  // sizes, places and colours
  "login.png PNG 4000x3000 4000x3000+0+0 8-bit sRGB 14.983MiB",
  "the session ended at testing.go:1737 +0x35e",
  ".git/hooks\n.git/objects/b3/1131646777cd1385cbe0a6a5e90d1f4b072581",
  ".btn-primary:hover{background-color:#0b5ed7}",
  '<div class="css-1q2w3e4 jsx-3162685293 svelte-1tbxl8v">',
  // other languages
  "zastosuj bezpieczne poprawki, wszystkie pliki",
  'ipv4: "IPv4アドレス", base64: "base64编码字符串"',
  'regex: "reguljärt uttryck", date: "ISO-päivämäärä"',
  // code that reads an environment or a secret file
  "const all = {\n  ...process.env,\n  ...env\n}\nconst path = pathFrom(all)",
  "# Source .env file if it exists\nif [ -f here ]; then\n  set -a\nfi",
  'password?: Maybe<string>\n"text-size"?: Maybe<number>',
  "https://packages.example.com/@types/node",
  "git@github.com:user/repo.git",
  "https://github.com/user/repo/commit/3f786850e387550fdab836ed7e6dc881de23001b",
  "tokenizer: tiktoken",
  "src/auth/token.ts:12:5: error TS2322: Type 'string' is not assignable",
  "at getToken (/home/dev/shop/src/auth/token.ts:12:34)",
  'import { Token } from "./token"',
  "export class PasswordService {",
  "- [x] rotate the secret",
  "Password must be at least 8 characters",
  "--password string   The password to use",
  "--token-file=/run/secrets/token",
  "--password-stdin",
  "tokens used: 1234, cached 456",
  "const tokens = tokenize(source)",
  'expected token ";" but found "}"',
  "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
  "SyntaxError: Unexpected token } in JSON at position 42",
  "auth: true",
  'auth: "required"',
  'passwordHash String @map("password_hash")',
  "password VARCHAR(255) NOT NULL,",
  "password TEXT",
  "secrets: inherit",
  "with: token: \u0024{{ github.token }}",
  "docker run -p 8080:80 nginx",
  "docker run -u 1000:1000 nginx",
  "chown -R app:app /srv",
  "mkdir -p src/core/fold",
  "ssh-keygen -t ed25519 -f key",
  "SELECT token, password FROM users WHERE id = 1",
  'token.type === "string"',
  "return token ?? secret",
  "let token: Token = next()",
  "token := scanner.Scan()",
  "pass: 12, fail: 0",
  "12 pass",
  "0 fail",
  "PASS src/login.test.ts",
  "PASS src/i18n.test.js (5.2 s)",
  "PASS lib/s3_test.rb",
  "PASS: tests/t0001-init.sh",
  "   PASS  Tests\\Unit\\ExampleTest",
  "password_reset_url=https://example.com/reset",
  "AWS_REGION=eu-west-1",
  "NODE_ENV=production",
  "keyboard: qwerty",
  "monkey=banana",
  '"author": "Jane"',
  "authored by: Jane Doe",
  "X-Request-Id: 7f3c2a9e-1b2c-4d5e-8f90-1a2b3c4d5e6f",
  'etag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
  "cookie: string",
  "Set-Cookie header is missing",
  "session_id: 42",
  "signature: (a: string, b: number) => void",
  'const cookieName = "sessionCookie"',
  'grep "sessionCookie" in src',
  "DEFAULT_PASSWORD_LENGTH = 12",
  "access_token_expires_in: 3600",
  '"private": true,',
  '"keywords": ["auth", "token", "password"],',
  'token: "abc"',
  "password: 'wrong'",
  "user.password = hashedPassword",
  "props.token={token}",
  "api_key: YOUR_API_KEY",
  "basic types. See the optional label",
  "- [x] Basic README.md",
  '"@tokenizer/token": "^0.3.0"',
  "export ANTHROPIC_API_KEY=sk-...",
  "TCP address for a server, identified by hostname and port.",
  "dotDotDotToken?: DotDotDotToken | undefined",
  "if (lastToken === 46/*.*/) return",
  "onError(token, 'UNEXPECTED_TOKEN', `Unexpected \u0024{token.type} token`)",
  "onError(keyNode.range, 'KEY_OVER_1024_CHARS', message)",
  'this.token("require(")',
  'private_key: "_EllipticCurvePrivateKey"',
  "self._private_key = _get_private_key(private_key_pkcs8_text)",
  "rsa.sign(blob, self._private_key, 'SHA-256')",
  'CHALLENGE_PASSWORD = ObjectIdentifier("1.2.840.113549.1.9.7")',
  "key_password=certs[0][2],",
  "proxy_pass=proxy_pass,",
  "github.com/a/b v1.2.3/go.mod h1:k7vvKPbf7J2fZ5klGRD9AeKfUvojuZIQ3BT5u7Jfv0Q=",
  'panic("bad private key: " + err.Error())',
  'fmt.Errorf("private key is *ed25519.PrivateKey, expected another")',
  't.Logf("Cipher key: 0x%x", key)',
  'fmt.Sprintf("basic realm=%s", folder)',
  "certificates[0].PrivateKey = testRSAPSS2048PrivateKey",
  'access_token="access_token"',
  'LOG.debug("PutToken: key=%s%s present")',
  'WWW-Authenticate: Digest nonce="6bf5d6e4da1ce66918800195d6b9130d"',
  "# Keep Authorization: headers on a redirect.",
  "full_headers['Authorization'] = authorization_header",
  '"Authorization": "Bearer access_token"',
  "Token: '#000080',",
  '"resume_token": "Af65..."',
  "const SECRET = /key$|token$|secret/i",
  "docker run -p3306:3306 mysql:8",
  'password: ["must have 8 characters"]',
  "token: {\n  type: string\n}",
  "--- PASS: TestXYZQuux (0.00s)",
  "--- PASS: TestOK (0.00s)\n--- SKIP: TestV2 (0.00s)\nPASS\nok  \texample.com/x\t0.01s",
  "PASS src/aB3.test.ts\nPASS src/v2.test.ts",
  'log.Printf("token=%s %s", a, b)',
  "password: kubernetes-secret",
  "password: UserInput",
  '"password": "at least eight"',
  "the password UserInput has",
  "git@example.com:shop/app",
  "ops@example.com:8080",
  "git@heroku.com:myshop.git",
  "scp notes.txt root@server.example.com:backup.tar",
  "rsync -a dist deploy@web1.example.com:htdocs",
  "if (token === CloseParen)",
  "{ token: 'CloseParen' }",
  "## AUTH changes",
  "credential: CredentialOAuth",
  "Pass `searchAll` to the handlers",
  'connect("clicked", "onClicked")',
  "pass: RegExp | null",
  "aws secretsmanager get-secret-value --secret-id shop/main-db1",
  "type Config struct {\n\tBearerToken   string\n\tAudience      string\n}",
  "| Token | Purpose | Used by |\n|---|---|---|\n| `accent` | Primary color | Logo |",
  "foo(username, password, role)\nbar(a, b, c)",
]

test.each(HARMLESS)("%j stays as it is", (text) => {
  expect(redact(text)).toBe(text)
})

describe("the common forms", () => {
  // put together here, so that no scanner takes this file for a leak
  const SECRET = "q7Zx9Lm2Kp4Rt8Wv1Yb6Nc3Hd5Jf0Gs"
  test.each([
    `sk-ant-api03-${SECRET}`,
    `sk-proj-${SECRET}`,
    `ghp_${SECRET}`,
    `AKIA${"Q7ZX9LM2KP4RT8WV"}`,
    `npm_${SECRET}`,
    `export OPENAI_API_KEY=${SECRET}`,
    `DB_PASSWORD='${SECRET}'`,
    `"apiKey": "${SECRET}"`,
    `postgres://shop:${SECRET}@localhost:5432/shop`,
    `curl -H 'Authorization: Bearer ${SECRET}' localhost`,
    `mysql --password=${SECRET} -u root`,
    `-----BEGIN RSA PRIVATE KEY----- ${SECRET}`,
    `token eyJhbGciOiJI.${SECRET}.abc`,
  ])("the secret is removed from %s", (text) => {
    const out = redact(text)
    expect(out).toContain("[redacted]")
    expect(out.toLowerCase()).not.toContain("q7zx9lm2")
  })

  test.each([
    ["const token = getToken()"],
    ["password: string"],
    ["src/token-counter.ts edited, secrets.md read"],
    ["npm test -- --grep tokenizer"],
    ["the API key should come from process.env.API_KEY"],
    ["git log --oneline -5 abcdef0"],
  ])("%s stays as it is", (text) => expect(redact(text)).toBe(text))
})

describe("a value is removed whole, and nothing else", () => {
  const token = `${"ghp_"}${"aB3d".repeat(9)}`
  test.each([
    ["export X_TOKEN=abc123def456", "export X_TOKEN=[redacted]"],
    ["DB_PASSWORD=correcthorse", "DB_PASSWORD=[redacted]"],
    ["DB_PASSWORD='correct horse 9'", "DB_PASSWORD='[redacted]'"],
    ["  password: hunter2!", "  password: [redacted]"],
    ["Authorization: Bearer correct-horse-battery", "Authorization: Bearer [redacted]"],
    ['"apiKey": "aZ3kd92ks0dk", "b": 1', '"apiKey": "[redacted]", "b": 1'],
    [String.raw`{\"password\":\"hunter2 x\",\"a\":1}`, String.raw`{\"password\":\"[redacted]\",\"a\":1}`],
    ['password = "a\\"b9c-d"', 'password = "[redacted]"'],
    ["spring.datasource.password = pa$$w0rd!", "spring.datasource.password = [redacted]"],
    ["passwort: geheim-9ß-ÄÖ", "passwort: [redacted]"],
    ["GET /x?access_token=abcdef123456&user=bob", "GET /x?access_token=[redacted]&user=bob"],
    ["Password=Sup3r;Secret!;Encrypt=true", "Password=[redacted];Encrypt=true"],
    ["postgres://bob:p@ss:w/rd@db.example.com:5432/a", "postgres://bob:[redacted]@db.example.com:5432/a"],
    ["Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted]"],
    ["Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"],
    ["Cookie: sid=abc123; theme=dark", "Cookie: [redacted]"],
    ["curl -u bob:s3cretpw https://x.y", "curl -u bob:[redacted] https://x.y"],
    ["mysql -u root -pSecret99 db", "mysql -u root -p[redacted] db"],
    ["sshpass -p 'hun ter2' ssh x", "sshpass -p '[redacted]' ssh x"],
    ["deploy --password hunter2 --token=tok_998877aa", "deploy --password [redacted] --token=[redacted]"],
    // letters that no word has, and percent signs
    ["DB_PASSWORD=p%40ssw0rd", "DB_PASSWORD=[redacted]"],
    ["postgres://app:S3cret%23pass@db/shop", "postgres://app:[redacted]@db/shop"],
    ["redis_password: gsfyodijeaonew", "redis_password: [redacted]"],
    ["DB_PASSWORD='JlrX fHDc xQQL'", "DB_PASSWORD='[redacted]'"],
    ["<passphrase>Qx9 Y6fL 5cyq</passphrase>", "<passphrase>[redacted]</passphrase>"],
    ["my password is hunter2!x", "my password is [redacted]"],
    ['const dbPassword: string = "s3cr3t!"', 'const dbPassword: string = "[redacted]"'],
    [`config["api_key"] = 'k3y_1234abcd'`, `config["api_key"] = '[redacted]'`],
    ['client.setPassword("s3cr3t!!")', 'client.setPassword("[redacted]")'],
    ["<password>hunter2</password>", "<password>[redacted]</password>"],
    ["| SecretAccessKey | wJalrXUtnFEMIK7MDENGbPxRfiCYzz9 |", "| SecretAccessKey | [redacted] |"],
    ["localhost:5432:mydb:bob:s3cr3tpw", "localhost:5432:mydb:bob:[redacted]"],
    // as shells and programs assign it
    ["set -x DEPLOY_TOKEN aB3dE5gH7jK9mN1p", "set -x DEPLOY_TOKEN [redacted]"],
    ['#define API_KEY "aB3dE5gH7jK9mN1p"', '#define API_KEY "[redacted]"'],
    [`jwtSecret: process.env.JWT_SECRET ?? "aB3dE5gH7jK9mN1p"`, `jwtSecret: process.env.JWT_SECRET ?? "[redacted]"`],
    ['api_key <- "aB3dE5gH7jK9mN1p"', 'api_key <- "[redacted]"'],
    ['token: Some("aB3dE5gH7jK9mN1p")', 'token: Some("[redacted]")'],
    ['std::string password{"hunter2!x"};', 'std::string password{"[redacted]"};'],
    ['tokens = ["aB3dE5gH7jK9mN1p"]', 'tokens = ["[redacted]"]'],
    ["{Host:db Password:vFcPzUUvUObtnz SSL:true}", "{Host:db Password:[redacted] SSL:true}"],
    ['  ["password"]=>\n  string(9) "hunter2!x"', '  ["password"]=>\n  string(9) "[redacted]"'],
    ['jwt.sign(payload, "aB3dE5gH7jK9mN1p")', 'jwt.sign(payload, "[redacted]")'],
    ['~ password = "hunter1!x" -> "hunter2!x"', '~ password = "[redacted]" -> "[redacted]"'],
    // on the next line, or in another attribute
    ["password: |\n  hunter2!x\nuser: a", "password: |\n  [redacted]\nuser: a"],
    ['const apiKey =\n  "aB3dE5gH7jK9mN1p"', 'const apiKey =\n  "[redacted]"'],
    ["db_password = <<EOT\nhunter2!x\nEOT", "db_password = <<EOT\n[redacted]\nEOT"],
    ['- name: DB_PASSWORD\n  value: "hunter2!x"', '- name: DB_PASSWORD\n  value: "[redacted]"'],
    ['{"name":"API_KEY","value":"aB3dE5gH7jK9"}', '{"name":"API_KEY","value":"[redacted]"}'],
    ['variable "db_password" {\n  default = "hunter2!x"\n}', 'variable "db_password" {\n  default = "[redacted]"\n}'],
    ['<add key="ApiSecret" value="aB3dE5gH7jK9"/>', '<add key="ApiSecret" value="[redacted]"/>'],
    ["<key>APIKey</key>\n<string>aB3dE5gH7jK9</string>", "<key>APIKey</key>\n<string>[redacted]</string>"],
    ["‹password>hunter2!‹/password>", "‹password>[redacted]‹/password>"],
    // by their place in a document, also behind numbers and dates
    ['{"db": {"sensitive": true, "value": "a b c9"}}', '{"db": {"sensitive": true, "value": "[redacted]"}}'],
    ['"token": {\n "type": "string",\n "value": "Qx9fYl"}', '"token": {\n "type": "string",\n "value": "[redacted]"}'],
    ["<Password>\n<Value>ab c9</Value>", "<Password>\n<Value>[redacted]</Value>"],
    ["4: kind: Secret\n5: data:\n6:   conn: abcdef", "4: kind: Secret\n5: data:\n6:   conn: [redacted]"],
    [
      "kind: Secret\nstringData:\n  a: |\n    b c\n    d e\nx: y",
      "kind: Secret\nstringData:\n  a: |\n    [redacted]\n    [redacted]\nx: y",
    ],
    ['user,password\nops,a9 b8\ndev,"c,7"', 'user,password\nops,[redacted]\ndev,"[redacted]"'],
    [" id | password \n----+----------\n  1 | Xq9dfg ", " id | password \n----+----------\n  1 | [redacted] "],
    [
      "Key    Value\n---    -----\ntoken  Xq9dfg\nttl    768h",
      "Key    Value\n---    -----\ntoken  [redacted]\nttl    768h",
    ],
    [String.raw`"a\npassword,user\na9b8,ops"`, String.raw`"a\npassword,user\n[redacted],ops"`],
    ['{"auths":{"ghcr.io":{"auth":"b3BzOnB3"}}}', '{"auths":{"ghcr.io":{"auth":"[redacted]"}}}'],
    ["password: >-\n  two words\nuser: a", "password: >-\n  [redacted]\nuser: a"],
    // as people write it
    ["**Password:** hunter2!", "**Password:** [redacted]"],
    ["**API key**: `aB3dE5gH7jK9`", "**API key**: `[redacted]`"],
    ["*Password:* correcthorse9", "*Password:* [redacted]"],
    ["<p>Password: <b>correcthorse9</b></p>", "<p>Password: <b>[redacted]</b></p>"],
    ["Type 'correcthorse9' into the password field", "Type '[redacted]' into the password field"],
    ["Initial root password is: hunter2!x", "Initial root password is: [redacted]"],
    ["password for the admin user:\n  aB3dE5gH7jK9", "password for the admin user:\n  [redacted]"],
    // escaped and encoded
    [String.raw`"a\ntoken = \"aB3dE5gH7jK9\""`, String.raw`"a\ntoken = \"[redacted]\""`],
    [`"a\\n${token}"`, String.raw`"a\n[redacted]"`],
    [String.raw`"a\nCookie: sid=abc123\nb"`, String.raw`"a\nCookie: [redacted]\nb"`],
    ["%7B%22password%22%3A%22aB3dE5gH7jK9%22%7D", "%7B%22password%22%3A%22[redacted]%22%7D"],
    ["/login?next=%2Fcb%3Fcode%3DaB3dE5gH7jK9mN2p%26state%3D1", "/login?next=%2Fcb%3Fcode%3D[redacted]%26state%3D1"],
    ["WIFI%3AS%3Anet%3BP%3Awinterhalde%3B%3B", "WIFI%3AS%3Anet%3BP%3A[redacted]%3B%3B"],
    ["https://x.y/z?key=aB3dE5gH7jK9", "https://x.y/z?key=[redacted]"],
    // databases and commands
    ["CREATE USER a IDENTIFIED BY 'hunter2'", "CREATE USER a IDENTIFIED BY '[redacted]'"],
    ["SET password_hash = crypt('hunter2', gen_salt('bf'))", "SET password_hash = crypt('[redacted]', gen_salt('bf'))"],
    [
      "document.querySelector('#password').value = 'hunter2'",
      "document.querySelector('#password').value = '[redacted]'",
    ],
    ["cookies=theme=dark; id=hunter2", "cookies=[redacted]"],
    ["CREATE LOGIN a WITH PASSWORD = N'hunter2!'", "CREATE LOGIN a WITH PASSWORD = N'[redacted]'"],
    ['sql.Open("mysql", "app:hunter2@tcp(db:3306)/a")', 'sql.Open("mysql", "app:[redacted]@tcp(db:3306)/a")'],
    ["sqlplus scott/hunter2@//db:1521/XE", "sqlplus scott/[redacted]"],
    ["echo hunter2 | docker login --password-stdin", "echo [redacted] | docker login --password-stdin"],
    ["keytool -storepass hunter2x -list", "keytool -storepass [redacted] -list"],
    ["htpasswd -bc .htpasswd ops 'a b9'", "htpasswd -bc .htpasswd ops '[redacted]'"],
    ["jdbc:oracle:thin:ops/p4ss@db:1521:X", "jdbc:oracle:thin:ops/[redacted]@db:1521:X"],
    ["  DefaultPassword    REG_SZ    a b9", "  DefaultPassword    REG_SZ    [redacted]"],
    ["CREATE USER ops WITH PASSWORD 'abc'", "CREATE USER ops WITH PASSWORD '[redacted]'"],
    ["keyring set shop ops <<< 'a b9'", "keyring set shop ops <<< '[redacted]'"],
    ["gh secret set KEY --body abc9", "gh secret set KEY --body [redacted]"],
    ["cmdkey /add:x /user:y /pass:a9bc", "cmdkey /add:x /user:y /pass:[redacted]"],
    ['new mysqli("db", "ops", "a b9", "shop")', 'new mysqli("db", "ops", "[redacted]", "shop")'],
    ['ConvertTo-SecureString "hunter2" -AsPlainText', 'ConvertTo-SecureString "[redacted]" -AsPlainText'],
    [".x.com\tTRUE\t/\tTRUE\t18\tsid\t0a1b2c3d4e", ".x.com\tTRUE\t/\tTRUE\t18\tsid\t[redacted]"],
    [`mnemonic: ${"legal winner thank ".repeat(4).trim()}`, "mnemonic: [redacted]"],
    ["EMAIL_PASSWORD = 'abcd efgh ijkl mnop'", "EMAIL_PASSWORD = '[redacted]'"],
    // words, which no type, message or name is made of
    ["password: CorrectHorse", "password: [redacted]"],
    ['"password": "correct horse battery"', '"password": "[redacted]"'],
    ["X-Api-Key: correct-horse-battery", "X-Api-Key: [redacted]"],
    ["pwd: correct.horse_2718", "pwd: [redacted]"],
    ["requirepass CorrectHorse", "requirepass [redacted]"],
    ['["A=1", "DB_PASSWORD=correct horse 9"]', '["A=1", "DB_PASSWORD=[redacted]"]'],
    ["{user=app, password=correct horse 9, ssl=true}", "{user=app, password=[redacted], ssl=true}"],
    // by their place in a statement, a call or an answer
    [
      "INSERT INTO t (a, password) VALUES ('b', 'c d'), (NULL, 'e f')",
      "INSERT INTO t (a, password) VALUES ('b', '[redacted]'), (NULL, '[redacted]')",
    ],
    // a cell may be a call or have a prefix
    [
      "INSERT INTO t (at, a, password) VALUES (NOW(), E'b', 'sunshine')",
      "INSERT INTO t (at, a, password) VALUES (NOW(), E'b', '[redacted]')",
    ],
    [
      "INSERT INTO t (a, token, note) VALUES (lower('A'), 'tok-abc-12', 'a note'), ('x'::text, 'tok-def-34', 'b')",
      "INSERT INTO t (a, token, note) VALUES (lower('A'), '[redacted]', 'a note'), ('x'::text, '[redacted]', 'b')",
    ],
    // the last string may be cut off
    [
      "INSERT INTO t (a, password) VALUES ('b', 'hunter2'), ('c', 'e f",
      "INSERT INTO t (a, password) VALUES ('b', '[redacted]'), ('c', '[redacted]",
    ],
    // where the beginning of the line looks like a place in a file or the beginning of a log's line
    ["smtp.password:12345-hunter22xyz", "smtp.password:[redacted]"],
    ["db.password:123456:Hunter22xyz", "db.password:[redacted]"],
    ["my/app.pw:1234:Sommer99", "my/app.pw:[redacted]"],
    ["password Hunter22x\t2024-01-01 10:00:00 created", "password [redacted]\t2024-01-01 10:00:00 created"],
    ["clave: Sol1234x!", "clave: [redacted]"],
    ["parola: Sol1234x!", "parola: [redacted]"],
    ["COPY t (a, password) FROM stdin;\nb\tc d9\n\\.", "COPY t (a, password) FROM stdin;\nb\t[redacted]\n\\."],
    [
      "id\tuser\tpassword\n1\tops\tcaqd%iqOc\n2\tdev\ta9bcd",
      "id\tuser\tpassword\n1\tops\t[redacted]\n2\tdev\t[redacted]",
    ],
    ["COPY t (id, password) FROM stdin;\n1\ta9bcd\n\\.", "COPY t (id, password) FROM stdin;\n1\t[redacted]\n\\."],
    ['Use "KzsmfBAJnGLS" as the API key', 'Use "[redacted]" as the API key'],
    ["smtp.login('ops', 'a b')", "smtp.login('ops', '[redacted]')"],
    ['expect "password:"\nsend "a9bcd\\r"', 'expect "password:"\nsend "[redacted]"'],
    ["enable secret 0 correct-horse2718", "enable secret 0 [redacted]"],
    ["ops@example.com:a9bcd", "ops@example.com:[redacted]"],
    ["ops@example.com:amber-canyon-yonder", "ops@example.com:[redacted]"],
    ['["redis-cli", "-a", "a9bcd", "ping"]', '["redis-cli", "-a", "[redacted]", "ping"]'],
    ['{"value": "a b", "httpOnly": true}', '{"value": "[redacted]", "httpOnly": true}'],
    ["privateExponent:\n    00:11:22:33:44:\n    55:66:77:88:99\nprime", "privateExponent:[redacted]\n\n\nprime"],
    ["SecretID:   0a1b2c3d-1111-4222-8333-444455556666", "SecretID:   [redacted]"],
    ["/root/.pgpass:3:db:5432:shop:app:a9bcd", "/root/.pgpass:3:db:5432:shop:app:[redacted]"],
    [`x ${token}: y`, "x [redacted]: y"],
    [`a ${token}.json`, "a [redacted].json"],
    [`PASSWORD="${"aB3!".repeat(400)}"`, 'PASSWORD="[redacted]"'],
  ])("%j", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  test("a key's block keeps its line breaks, so that the lines after it keep their numbers", () => {
    const [key] = plantsOf(1).filter(({ kind }) => kind === "an RSA key")
    const text = `one\n${key?.text}\nlast`
    expect(redact(text)).toMatch(/^one\n\[redacted\]\n+last$/)
    expect(redact(text).split("\n").length).toBe(text.split("\n").length)
  })

  test("no text can switch it off", () => {
    const text = `// secretlint-disable\n${token} // secretlint-disable-line`
    expect(redact(text)).not.toContain(token)
  })
})

/** The same text as tools display it. */
const SHOWN: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "on one line": line,
  "with numbers before its lines": (text) => eachLine(text, (one, at) => `${at + 1}: ${one}`),
  "as a search shows it": (text) => eachLine(text, (one, at) => `  Line ${at + 1}: ${one}`),
  "with a date before its lines": (text) => eachLine(text, (one) => `2026-11-02T09:00:00Z INFO app ${one}`),
  "quoted in a reply": (text) => eachLine(text, (one) => `> ${one}`),
  "in JSON": (text) => JSON.stringify({ out: text }),
  "with colours inside": (text) => spaced(text, 7, "\u001b[0m"),
  "with invisible characters inside": (text) => spaced(text, 9, "\u200b"),
  "with invisible characters inside, on one line": (text) => line(spaced(text, 9, "\u200b")),
  "with tag characters inside": (text) => spaced(text, 5, "\u{e0041}"),
  "as UTF-16 that was read as UTF-8": (text) => spaced(text, 1, "\ufffd"),
  "with colours of which the escape is written out": (text) => spaced(text, 7, "\\u001b[0m"),
  "in bold type of a terminal": (text) => [...text].map((one) => (/\w/.test(one) ? `${one}\b${one}` : one)).join(""),
}
/** The same with its signs escaped, also in words that no rule takes for random. */
const ESCAPED: Readonly<Record<string, (sign: string, code: number) => string>> = {
  "by decimal entities": (_, code) => `&#${code};`,
  "by hexadecimal entities": (_, code) => `&#x${code.toString(16).toUpperCase()};`,
  "by named entities": (sign) => ({ "=": "&equals;", ":": "&colon;", "@": "&commat;", "/": "&sol;" })[sign] ?? sign,
  "by entities in entities": (sign) => ({ '"': "&amp;quot;", "<": "&amp;lt;", ">": "&amp;gt;" })[sign] ?? sign,
  "as source code escapes them": (_, code) => `\\x${code.toString(16)}`,
  "as an address escapes them": (sign) => encodeURIComponent(sign),
  "as an address in an address escapes them": (sign) => encodeURIComponent(encodeURIComponent(sign)),
  "by wide characters": (_, code) => String.fromCharCode(code + 0xfee0),
}

describe.each(Object.entries(ESCAPED))("a password with signs escaped %s", (_, escaped) => {
  test.each([
    "DB_PASSWORD=brisket8842",
    '"clientSecret": "brisket8842"',
    "postgres://app:brisket8842@db.internal:5432/shop",
    "curl -u admin:brisket8842 https://ci.example.com",
    "<password>brisket8842</password>",
    "X-Api-Key: brisket8842",
  ])("is removed: %s", (text) => {
    const shown = text.replace(/[^\w .-]/g, (sign) => escaped(sign, sign.charCodeAt(0)))
    expect(redact(shown)).not.toContain("brisket")
  })
})

const BELOW = `\n${"a line of the log\n".repeat(60)}`

describe("a secret that stands in the same text without its name", () => {
  test.each([
    ["as it is", "brisket8842"],
    ["in a path", "/srv/brisket8842/data"],
    ["in hexadecimal digits", Buffer.from("brisket8842").toString("hex")],
  ])("is removed %s", (_, shown) => {
    expect(redact(`DB_PASSWORD=brisket8842${BELOW}it was ${shown} then`)).not.toContain(shown)
    expect(redact(`it was ${shown} then${BELOW}DB_PASSWORD=brisket8842`)).not.toContain(shown)
  })
  test("is removed as an address escapes it", () => {
    expect(redact(`password: "p!ne/lake{42}"${BELOW}GET /a/p!ne%2Flake%7B42%7D/b`)).not.toContain("lake")
  })
  test.each(["summer", "postgres", "5432123"])("stays if it is a word or a number: %s", (word) => {
    expect(redact(`DB_PASSWORD=${word}${BELOW}it was ${word} then`)).toContain(`it was ${word} then`)
  })
  test("many secrets take linear time", () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `API_TOKEN=pine${at}lake`)
    expect(redact(lines.join("\n"))).not.toContain("lake")
  })
})

describe("a secret in pieces", () => {
  test.each([
    'const apiKey = "brisk" + "et88" + "42lake"',
    'password = ("brisk"\n            "et8842lake")',
    "$password = 'bri' . 'sket88' . '42lake'",
    "SET password = 'brisk' || 'et8842lake';",
    'password = "brisk" & _\n  "et8842lake"',
    `const password = [${[..."brisket8842lake"].map((one) => `"${one}"`).join(", ")}].join("")`,
    `password: ${[..."brisket8842lake"].join(" ")}`,
  ])("is removed: %s", (text) => expect(redact(text)).not.toMatch(/bri|et88|lake|l", "a|l a k/))
  test.each([
    'throw new Error("Invalid password: " + "must be longer")',
    'const token = "access" + "_token"',
    "const keywords = ['a', 'b', 'c', 'd', 'e', 'f', 'g']",
  ])("stays if it is none: %s", (text) => expect(redact(text)).toBe(text))
  test.each([
    ["strings", `password="a"${'+"a"'.repeat(50_000)}`],
    ["letters", `password=[${'"a",'.repeat(50_000)}`],
    ["lists of letters", '["a",'.repeat(50_000)],
    ["escaped percent signs", "%2525".repeat(50_000)],
    ["entities of entities", "&amp;".repeat(50_000)],
  ])("many %s take linear time", (_, text) => expect(redact(`${text} x`).endsWith("x")).toBe(true))
})

function eachLine(text: string, change: (line: string, at: number) => string): string {
  return text.split("\n").map(change).join("\n")
}

function spaced(text: string, every: number, sign: string): string {
  return [...text].map((one, at) => (at % every === 4 && !/[\n\\]/.test(one) ? one + sign : one)).join("")
}

describe.each(Object.entries(SHOWN))("a secret %s", (_, show) => {
  test.each(plantsOf(7).map((plant) => [plant.kind, plant] as const))("is removed: %s", (kind, { parts, text }) => {
    const shown = redact(show(text))
    expect(searcher([{ name: kind, parts }])(shown)).toEqual(new Set())
    expect(redact(shown)).toBe(shown)
  })
})

test.each([
  "kind: Secret\nstringData:\n  a: bluebird\n  b: |\n    b c\n    d e\nx: y",
  "password: >-\n  two words\nuser: a",
  "==> .env <==\nGREETING=plainwords",
  "command:\n  - --requirepass\n  - amber77%x",
])("with the ends of lines that Windows has, no less is removed: %j", (text) => {
  const redacted = redact(text)
  expect(redacted).not.toBe(text)
  expect(redact(text.replaceAll("\n", "\r\n"))).toBe(redacted)
})

test("a text of Windows without secrets stays as it is", () => {
  const text = "first line\r\nsecond line\r\n"
  expect(redact(text)).toBe(text)
})

test("a token cut off at the end of a text is removed", () => {
  expect(redact(`at ${"github_pat_"}11ABCDEF`)).toBe("at [redacted]")
  expect(redact(`at ${"sk-ant-"}api03-Ab…`)).toBe("at [redacted]…")
})

test.each([
  ["origin\thttps://ops:«JyvRTzfAqMqV»", "a password in an address"],
  ["amqp://ops:«JyvRTzfAqMqV»…", "the same, cut by a program"],
  ["<Password>\n  <Value>«gR0z o3mT»", "a nested element"],
  ["keyring set shop ops <<< '«amberpine»", "the text that a program is given"],
  ['1: {"a":1,"db_password":"«JyvRTzfAqM»... (line truncated to 2000 chars)\n2: x', "a line that OpenCode cut"],
])("%j is removed: %s", (marked) => {
  expect(redact(marked.replace(/[«»]/g, ""))).toBe(marked.replace(/«.*»/, "[redacted]"))
})

test.each([
  "http://localhost:3000",
  "http://localhost:$PORT",
  "docker://alpine:3f2a9c1b7d4e",
  "the text ... (line truncated to 2000 chars)",
])("%s at the end of a text stays", (text) => expect(redact(text)).toBe(text))

const texts = () =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(...HARMLESS, ...plantsOf(3).map(({ text }) => text)),
        fc.string(),
        fc.constantFrom(" ", "\n", "=", ": ", '"', "[redacted]"),
      ),
      {
        maxLength: 6,
      },
    )
    .map((pieces) => pieces.join(""))

test("redacting is idempotent, and no text gets more than four times as long", () => {
  fc.assert(
    fc.property(texts(), (text) => {
      const shown = redact(text)
      expect(redact(shown)).toBe(shown)
      expect(shown.length).toBeLessThanOrEqual(4 * text.length)
    }),
    { numRuns: 500 },
  )
})

// each of these once kept a pattern busy for minutes; anything quadratic exceeds the test's time limit
test.each(
  [
    " \t",
    "telegram",
    "://a:b",
    "password=(",
    "Private-MAC: ",
    "aB3dE5gH7jK9mN1pQ3".repeat(3).concat("\n"),
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "cookie: a=",
    "eyJaaaaaaaa.",
    "xoxb-a-",
    '\\"password\\":\\"',
    "mysql -p",
    " -ab a",
    "echo a | ",
    "password a: ",
    "password:\\n",
    "password: Some(",
    '"API_KEY",\\n',
    "%22password%22%3A",
    "seed: abc abc abc ",
    "hmac.new(a, ",
    '"key" -> ',
    "\u0301\u0316",
  ].map((piece) => [piece]),
)("100 kB of %j take linear time", (piece) => {
  const text = piece.repeat(Math.ceil(100_000 / piece.length))
  expect(redact(`${text}\n@x`).endsWith("x")).toBe(true)
})

test.each(["seed ", "wallet ", "my wallet amber pine", "passphrase: amber pine lake "].map((piece) => [piece]))(
  "500 kB of %j take no time to speak of",
  (piece) => {
    const text = piece.repeat(Math.ceil(500_000 / piece.length))
    expect(redact(`${text}\n@x`).endsWith("x")).toBe(true)
  },
)

test.each(
  [
    ...["backup codes:\n", "scratch codes:\n a1b2c3\n", "sudo echo abc", "chpasswd:", "<Key>Password</Key>"],
    'password: "{{ lookup(',
  ].map((head) => [head]),
)("100 kB of blanks after %j take linear time", (head) => {
  expect(redact(`${head}${" ".repeat(100_000)}\n@x`).endsWith("x")).toBe(true)
})
