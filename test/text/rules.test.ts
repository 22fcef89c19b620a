// Every rule of contexts.ts and keys.ts has a line that only it withholds, so that none can be lost unseen; so have the forms
// in which a name and its value are written.

import { expect, test } from "bun:test"
import { redact } from "../../src/text/redact/redact.ts"

// put together here, so that no scanner takes this file for a leak
const BEGIN = `-----${"BEGIN"} PRIVATE KEY-----`
const END = `-----${"END"} PRIVATE KEY-----`
/** Base64 that is no word, and yet not so mixed that it is left out for looking random. */
const ROW = "theAND12forYOU34"
const LAST_ROW = "canWAS5="

/** Lines by the rule that withholds them. The secret is marked, and made of words, so that no other rule takes it. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  // addresses
  "a webhook of Slack": ["notify https://hooks.slack.com/services/«TSHOP/BSHOP/amberpine»"],
  "a webhook of Discord": ["notify https://discord.com/api/webhooks/123456789012345678/«amber-pine-lake»"],
  "a webhook of Teams": ["notify https://shop.webhook.office.com/webhookb2/«amber/pine/lake/moss/fern»"],
  "a webhook of Zapier": ["notify https://hooks.zapier.com/hooks/catch/«123456/amberpine»"],
  "a bot of Telegram": ["notify https://api.telegram.org/bot«123456:amber_pine_lake_moss»/sendMessage"],
  "a webhook of IFTTT": ["notify https://maker.ifttt.com/trigger/door_opened/with/key/«amberpine»"],
  "a token in the place of a user": [
    "git clone https://«0f1e2d3c4b5a69788796a5b4c3d2e1f0»@git.example.com/shop.git",
    "sent to https://«0f1e2d3c4b5a69788796a5b4c3d2e1f0»:x@o1.example.com/2",
  ],
  "a password in an address": [
    "redis://:«amberpine»@cache.example.com:6379",
    "mongodb://ops:«amberpine»@db1.example.com,db2.example.com/shop",
  ],
  "a password with a slash in an address": ["amqp://ops:«amber/pine»@queue.example.com:5672"],
  "an address of Go's drivers": ["dsn ops:«amberpine»@tcp(db.example.com:3306)/shop"],
  "a token in an address": [
    "rpc https://mainnet.infura.io/v3/«0f1e2d3c4b5a69788796a5b4c3d2e1f0»",
    "rpc https://amber.quiknode.pro/«0f1e2d3c4b5a69788796a5b4c3d2e1f0»/",
    "post https://open.feishu.cn/open-apis/bot/v2/hook/«0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0»",
    "post https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0»",
    "ping https://hc-ping.com/«0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0»",
    "git clone https://«0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0»@git.example.com/shop.git",
  ],
  // people
  "a code that is sent": [
    "verification code: «482913»",
    "Your login code is «482913».",
    "G-«482913» is your shop verification code.",
  ],
  "what routers share": [
    "crypto isakmp key «amber5pine» address 192.0.2.4",
    "snmp-server community «amberpine» RO",
    "createUser monitor SHA «amberpine» AES",
  ],
  "an app's password": ["password: «abcd efgh ijkl mnop»", "password «abcd efgh jklm nopq»"],
  "a user and a password": [
    "log in as ops / «Amber!Pine77» until Friday",
    "  stats auth admin:«AmberPine77»",
    "the staging account `demo@shop.dev` / `«amb@PINE77»`, on all hosts",
  ],
  "an argument on a line of its own": ["new PDO(\n  'mysql:host=db',\n  'shop',\n  '«amberpine»',\n)"],
  "a share of Windows": ["net use Z: %SHARE% /user:SHOP\\scanner «AmberPine77» /persistent:yes"],
  "a column in another language": ["| Host | Kennwort |\n|------|----------|\n| db | «amber-pine-77» |"],
  "a seed in groups": ["setup key: «abcd ef2h ijkl mnop qr5t»"],
  "a name with a sentence": [
    "my db password for the shop is «Amber!Pine77»",
    "the sudo password on both nodes is «AmberPine77»",
  ],
  "a form that is encoded twice": ["body: user%3Dops%26pass%3D«amber-pine-77»%26mode%3Dfull"],
  "a call that is awaited": ["password: await hash('«AmberPine77»', 12)"],
  "a heading": ["# Password\n\n«Amber!Pine77»"],
  // calls and commands of more programs
  "a network in a picture": ["WIFI:T:WPA;S:shop;P:«amberpine»;;"],
  "a text that is encoded": ["echo -n «amber-pine-77-lake» | base64"],
  "a command of a protocol": [
    "PASS «amberpine»",
    "a1 LOGIN bob «amberpine»",
    "IDENTIFY «amberpine»",
    '"AUTH" "«amberpine»"',
  ],
  "a key as an argument": [
    'new SecretKeySpec("«amberpine»".getBytes(), "AES")',
    '"«amberpine»".toCharArray()',
    "pgp_sym_encrypt(body, '«amberpine»')",
    'DBI->connect("dbi:Pg:dbname=shop", "ops", "«amberpine»")',
    'WiFi.begin("shop", "«amberpine»")',
  ],
  "a flag of another program": [
    "ldappasswd -s «amberpine»",
    "security unlock-keychain -p «amberpine» login.keychain",
    "pdftotext -upw «amberpine» a.pdf",
    "hydra -l ops -p «amberpine» ssh://db",
    "openssl dgst -sha256 -hmac «amberpine» a.txt",
    "nuget push a.nupkg -k «amberpine»",
    "wpa_passphrase shop «amberpine»",
    "rclone config create s3 sftp pass=«amberpine»",
    "cargo login «amberpine»",
    "mosquitto_passwd -b users ops «amberpine»",
    "net use Z: \\\\db\\shop /user:ops «amberpine»",
    "echo «amberpine» | kinit ops",
  ],
  "a private calendar": [
    "https://calendar.example.com/calendar/ical/ops%40example.com/private-«0f1e2d3c4b5a69788796a5b4c3d2e1f0»/basic.ics",
  ],
  // headers
  "a scheme in prose": [
    "sent bearer «amber-pine-7» to api.example.com",
    "sent Basic «amber-pine-7» to api.example.com",
    "sent Negotiate «amber-pine-7» to api.example.com",
    "sent ApiKey «amber-pine-7» to api.example.com",
    "sent token «amber-pine-lake-7» to api.example.com",
  ],
  "an authorization without a scheme": ["Authorization: «amber-pine-7»", '"authorization": "«amber-pine-lake»"'],
  "an authorization with a scheme of its own": [
    "Authorization: Splunk «amber-pine-7»",
    "Proxy-Authorization: Negotiate «amber-pine-lake»",
  ],
  "an authorization with a scheme": ["Authorization: Bearer «amber-pine»"],
  "a digest": ['sent Digest username="ops", realm="shop", uri="/", response="«0f1e2d3c4b5a69788796a5b4c3d2e1f0»"'],
  "a cookie": ["Cookie: «theme=amberpine»"],
  "a mask of a workflow": ["::add-mask::«amberpine»"],
  // files of passwords
  "a line of netrc": [
    "machine git.example.com login ops password «amberpine»",
    "default login ops password «amberpine»",
    "machine git.example.com\n  login ops\n  account shop\n  password «amberpine»",
  ],
  "a line of pgpass": ["db.example.com:5432:shop:ops:«amberpine»"],
  "a line of a cookie file": [".example.com\tTRUE\t/\tFALSE\t18\ttheme\t«amberpine»"],
  "an address of mail and its password": ["ops@example.com:«amber-pine-lake»"],
  "a user of a broker": ['PlainLoginModule required user_ops="«amberpine»";'],
  "a user of Redis": ["user ops on >«amberpine» ~* +@all", "ACL SETUSER ops on >«amberpine» ~* +@all"],
  "a value of the registry": ["  DefaultPassword    REG_SZ    «amberpine»"],
  "the key of a wireless network": ["    Key Content            : «amberpine»"],
  "words of a wallet": [`seed phrase: «${"amber pine lake ".repeat(4).trim()}»`],
  "words of a wallet in code": [
    `SEED_PHRASE = get('SEED_PHRASE', '«${"amber pine lake ".repeat(4).trim()}»')`,
    `seed_phrase=«${"amber%20pine%20lake%20".repeat(4).slice(0, -3)}»&page=1`,
    `recovery phrase:\n1. «${Array.from({ length: 12 }, (_, at) => `amber\n${at + 2}. `)
      .join("")
      .slice(0, -5)}»`,
  ],
  "codes of recovery": ["Recovery codes:«\nab1cd-efgh2\nijklm-nop3q»"],
  "keys of accounts": [
    `accounts: ["«0x${"0f1e2d3c".repeat(8)}»"]`,
    `Private Keys\n\n(0) «0x${"0f1e2d3c".repeat(8)}»`,
    `new Wallet("«${"0f1e2d3c".repeat(8)}»")`,
  ],
  "an app password": ["smtp_password: «pine lake moss fern»"],
  // statements
  "a statement": [
    "CREATE USER ops IDENTIFIED BY '«amberpine»'",
    "ALTER USER ops IDENTIFIED WITH caching_sha2 BY '«amberpine»'",
    "ConvertTo-SecureString -String '«amberpine»' -Force",
  ],
  "a statement without quotes": ["ALTER USER ops IDENTIFIED BY «amberpine»"],
  "a password of a statement": [
    "ALTER USER ops PASSWORD '«Amberpine»'",
    "SET PASSWORD FROM 'Pinelake' TO '«Amberpine»'",
  ],
  "a user and password of Oracle": ["jdbc:oracle:thin:ops/«amberpine»@db.example.com:1521:SHOP"],
  "what a client of Redis is told": ["AUTH «amberpine»", "127.0.0.1:6379> AUTH ops «amberpine»"],
  // calls
  "a call that connects": ["imap_open($host, 'ops', '«Amberpine»')", "create_user('ops', mail, '«Amberpine»')"],
  "a call that signs in": [
    "smtp.login('ops', '«Amberpine»')",
    'get("/").auth("ops", "«Amberpine»")',
    '.basic_auth("ops", Some("«Amberpine»"))',
    'new NetworkCredential("ops", "«Amberpine»")',
  ],
  "a user and a password that are encoded": [
    'btoa("admin:«Sommer2024!»")',
    'base64.b64encode(b"deploy:«hunter2pass»")',
    'Buffer.from("deploy:«Hunter2pass»").toString("base64")',
    'echo -n "admin:«hunter2pass»" | base64',
  ],
  "a key of Python's hmac": ["hmac.new(b'«amberpine»', body)", 'hmac.new(key="«amberpine»", msg=body)'],
  "a call that makes a hash": [
    'bcrypt.hash("«amberpine»", 10)',
    'argon2.hash("«amberpine»")',
    'generate_password_hash("«Amberpine»")',
    'app.use(cookieParser("«amberpine»"))',
  ],
  "a call that signs": ["jwt.sign(claims, '«amberpine»')", "createHmac('sha256', '«amberpine»')"],
  "a value before what it is": ["use '«amber-pine-lake»' as the admin password"],
  // commands
  "text given to a program": ["vault login <<< '«amberpine»'"],
  "a value as an argument": ["gh secret set SHOP --body «amberpine»", "fly secrets set SHOP=«amberpine»"],
  "a password piped into a program": [
    "echo «amberpine» | docker login --password-stdin",
    "echo 'ops:«amberpine»' | chpasswd",
    'docker login --password-stdin <<< "«amberpine»',
    "printf '%s' '«amberpine»' | vercel env add SHOP production",
    'echo "«amberpine»" | gh secret set SHOP',
    "echo «amberpine» | cryptsetup open /dev/sda2 shop -",
    "echo «amberpine» | gpg --passphrase-fd 0 -d notes.gpg",
  ],
  curl: ["curl -u ops:«amberpine» https://example.com", "wget --proxy-user=ops:«amberpine» https://example.com"],
  "curl's flags together": ["curl -su ops:«amberpine» https://example.com"],
  "curl's user alone": ["curl -u «0f1e2d3c4b5a69788796a5b4c3d2e1f0»: https://example.com"],
  httpie: ["http -a ops:«amberpine» example.com/shop"],
  "a password as an argument": ["bw unlock «amberpine»", "openssl passwd -6 «amberpine»"],
  "macOS's keychain": ["security add-generic-password -a ops -s shop -w «amberpine»"],
  "curl's cookies": ["curl -b «theme=amberpine» https://example.com"],
  mysql: ["mysqldump -p«amberpine» shop"],
  sshpass: ["sshpass -p «amberpine» ssh web1", "podman login -p «amberpine» registry.example.com"],
  "redis-cli": ["redis-cli -a «amberpine» ping"],
  ldapsearch: ["ldapsearch -x -D cn=ops -w «amberpine»"],
  zip: ["zip -P «amberpine» shop.zip notes.txt", "7z x -p«amberpine» shop.7z"],
  "openssl's passwords": ["openssl pkcs12 -in shop.p12 -passin pass:«amberpine»"],
  "openssl enc": ["openssl enc -aes-256-cbc -k «amberpine» -in notes.txt"],
  ipmitool: ["ipmitool -H 10.0.0.5 -P «amberpine» power status", "snmpget -v3 -A «amberpine» 10.0.0.5"],
  snmpwalk: ["snmpwalk -v2c -c «amberpine» 10.0.0.5"],
  freerdp: ["xfreerdp /v:10.0.0.5 /u:ops /p:«amberpine»"],
  psexec: ["psexec \\\\web1 -p «amberpine» hostname"],
  plink: ["plink -pw «amber.pine» ops@web1"],
  lftp: ["lftp -u ops,«amberpine» ftp.example.com"],
  "Oracle's programs": ["expdp ops/«amberpine» schemas=shop"],
  "a user that is added": ["docker exec queue ctl add_user ops «amberpine»", "net user ops «amberpine» /add"],
  smbclient: ["smbclient //files/shop -U ops%«amberpine»"],
  htpasswd: ["htpasswd -b .htpasswd ops «amberpine»"],
  "net use": ["net use Z: \\\\files\\shop «amberpine» /persistent:yes"],
  cmdkey: ["cmdkey /add:web1 /user:ops /pass:«amberpine»"],
  "a password after a user": ["deployer -u ops -p «amberpine»"],
  useradd: ["useradd -m -p «amberpine» ops"],
  "ssh-keygen": ["ssh-keygen -t ed25519 -N «amberpine» -f id"],
  sqlcmd: ["sqlcmd -S db1 -P «amberpine»"],
  signtool: ["signtool sign /f shop.pfx /p «amberpine» shop.exe", "schtasks /create /tn backup /rp «amberpine»"],
  // keys
  "short base64 alone on its line": [`the licence of the shop:\n  «${ROW}canWAS56»\nlast`],
  "padded base64": [`stored «${ROW}canWAS=» again`],
  "long base64": [`stored «${ROW}canWAS56hasNOT78hisHER90» again`],
  "the rows after long base64": [`one\n«${ROW}canWAS56hasNOT78hisHER90\n${ROW}\n${LAST_ROW}»\nlast`],
  "the first rows of a key": [`one\n«${BEGIN}\n${ROW}\n${LAST_ROW}»\nlast`],
  "a key behind what no other rule knows": [`one\n«${BEGIN}\n09:00 app ${ROW}canWAS56\n09:00 app ${END}»\nlast`],
  "what stands before a key's rows": [`one\n«${BEGIN}\nProc-Type: 4,ENCRYPTED\n\n${ROW}\n${LAST_ROW}»\nlast`],
  "numbers before a key's rows": [`1: «${BEGIN}\n2: ${ROW}\n3: ${LAST_ROW}»\n4: last`],
  "quotes around a key's rows": [`"«${BEGIN}",\n"${ROW}",\n"${LAST_ROW}»",\n"last"`],
  "a key's slashes with escapes": [`one\n«${BEGIN}\nforAND\\/theYOU»\nlast`],
  "how a key begins": [`one\n«${BEGIN}\nMIIEamberpinelake»\nlast`],
  "the last rows of a key": [
    `one\n«${ROW}\n${LAST_ROW}\n${END}»\nlast`,
    `one\n> «${ROW}\n> ${LAST_ROW}\n> ${END}»\n> last`,
  ],
  "the last rows of a key before another": [`one\n«${ROW}\n${END}»\ntwo\n«${BEGIN}\ncanWAS56hasNOT78»\nlast`],
  "a vault of Ansible": [`pw: !vault |\n  «$ANSIBLE_VAULT;1.1;AES256\n  ${"3162633464".repeat(8)}\n  3534»`],
  "PuTTY's file": [
    `one\n09:00 «PuTTY-User-Key-File-3: ssh-rsa\n09:00 Private-Lines: 1\n09:00 ${ROW}\n09:00 Private-MAC: 0f1e2d»\nlast`,
  ],
  "PuTTY's file without its beginning": [`one\n«Private-Lines: 3\n${ROW}\n${LAST_ROW}»\nlast`],
  "the end of PuTTY's file": ["one\n«Private-MAC: 0f1e2d3c4b5a»\nlast"],
}

/** Names and values as languages and tools write them. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  "two words and a number": ["password = «AmberPine42»", "Mot de passe : «AmberPine42»"],
  "a phrase with a word that only begins or ends like one of secrets": [
    "password: «monkey-bridge-dragon»",
    "the password is «author-compass-turkey»",
  ],
  "a name with its words apart": ["pass_phrase=«Ott3r@7mo»"],
  "the next setting on a line": ['type=wpa2-psk passphrase="«winter5669»"'],
  "an answer in braces": ['expect "assword:" { send "«Wint3r.7ma\\r»" }'],
  "what follows a share": ["net use Z: \\\\nas\\share «C3dar.0ot» /user:bob"],
  "words that run together": ["password: «amberpinelakemoss»"],
  "words, a number, and how code joins them": ['password: str = Field(default="«Amber.Pine.42»")'],
  "two words of a file of settings": ["db_password = «amber_pine77»"],
  "a password that is repeated": ["password_confirmation=«amber_pine77»"],
  "an array of C": ['const char db_password[] = "«amber_pine77»";'],
  "a property of C#": ['public string Password { get; set; } = "«amber_pine77»";', 'var password = @"«amber_pine77»";'],
  "a default": [
    'password: str = Field(default="«amber77»", env="SHOP")',
    'password: z.string().default("«amber77»")',
    'env::var("DB_PASSWORD").unwrap_or("«amber77»".into())',
    'ENV.fetch("DB_PASSWORD") { "«amber77»" }',
    'System.getenv("DB_PASSWORD") ?: "«amber77»"',
    `: "\${DB_PASSWORD:=«amberpine»}"`,
    `password: \${DB_PASSWORD:«amberpine»}`,
    "DB_PASSWORD ?= «amber_pine@77»",
  ],
  "a field that is filled": [
    'getByLabel("Password").fill("«amber77»")',
    "cy.get('input[name=password]').type('«amber77»')",
    'type(getByLabelText("Password"), "«amber77»")',
  ],
  "a value before its name": [
    '<input value="«amber77»" type="hidden" name="password">',
    '{"value": "«amber77»", "name": "password"}',
  ],
  "a value with a name of its own": [
    '"ParameterKey": "DbPassword", "ParameterValue": "«amber77»"',
    "ssm put-parameter --name /shop/password --value «amber77» --type String",
    '<property name="shop.password">«amber_pine77»</property>',
  ],
  "a command that sets": ["ENV DB_PASSWORD «amberpine»", "set -gx DB_PASSWORD «amberpine»"],
  "a cell of a record": ["password | «amber_pine77»"],
  "a short column": ['"id","password","x"\n"1","«amber77»","y"'],
  "a table of names and values": ["name,value\nSMTP_PWD,«Amber.Pine»"],
  "a connection whose last value is short": ['"host=db password=«AmberPine» dbname=a"'],
  "a UUID in a bracket": ['shop_token: Some("«0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0»")'],
  "a list of values": ['passwords = ["«amber77»", "«pine88»"]'],
  "a flag": ["redis-cli --pass «amberpine» ping"],
  "a word, a number and a letter": ["DB_PASSWORD=«amber77.q»", "password: «amber77.q»", "-Ddb.password=«amber77.q»"],
  "words and a number joined by dashes": [
    "POSTGRES_PASSWORD: «Amber-Pine-77»",
    "password: «amber-pine-77»",
    "passphrase for the key: «amber-pine-river-77»",
    "the wifi password at the office = «Amber-Pine-2024»",
  ],
  "an argument after others": [
    'mysql_real_connect(conn, "localhost", "root", "«amber77?x»", "app", 0, NULL, 0);',
    "PDO->__construct('mysql:host=db', 'root', '«amber77»')",
    "client.connect(host, 22, 'root', '«Amber-Pine-77»')",
    "omniauth :github, 'Iv1', '«0f1e2d3c4b5a69788796a5b4c3d2e1f0»'",
    "mc alias set local http://localhost:9000 admin «amber77»",
    "supabase link --project-ref abc -p «amber77»",
  ],
  "a field that is filled by its label": [
    'fill_in "Password", with: "«amber77»"',
    'I fill in "Password" with "«amber77»"',
  ],
  "a template's default": [`password: "{{ lookup('env','X') | default('«amber77@x»') }}"`],
  "the next element of a list of arguments": ["command:\n  - --requirepass\n  - «amber77%x»"],
  "an example of a schema": ['password: { type: string, example: "«amber77*a»" }'],
  "a value in an element after its name's": [
    '<Key>Password</Key>\n<Value ProtectInMemory="True">«amber77»</Value>',
    '<stringProp name="Argument.name">password</stringProp>\n<stringProp name="Argument.value">«Amber.2024»</stringProp>',
  ],
  "a value before the name of its row": ["UPDATE settings SET value='«Amber.1987»' WHERE name='smtp_password'"],
  "a host of gems": [
    'BUNDLE_GEMS__SHOP__COM: "0f1e2d3c:«4b5a6978»"',
    "bundle config set gems.shop.com 0f1e2d3c:«4b5a6978»",
  ],
  "users of cloud-init": ["chpasswd:\n  list: |«\n    root:amber_77\n    shop:pine_88»"],
  "a pair after its word": [
    "Here are the creds admin:«amber_77» for the box.",
    "Admin credentials: admin / «Amber77.»",
  ],
  "a line with its number": ["00001| name,url,username,password\n00002| shop,https://shop.dev,bob,«Amber-Pine-99»"],
  "a removed line": ["-        - name: DB_PASSWORD\n-          value: «amber77@m»", "-pass = «Amber-Pine-42»"],
  "a line and who wrote it": [
    "0f1e2d3c (Bob 2024-03-01 10:00:00 +0100 1) id,password\n0f1e2d3c (Bob 2024-03-01 10:00:00 +0100 2) 7,«amber77»",
  ],
  "what Expect waits for": ['expect "assword:"\nsend "«amber77»"'],
  "a format": [
    `bkua_${"0f1e2d3c".repeat(5)}`,
    `lsv2_pt_${"0f1e2d3c".repeat(4)}_0f1e2d3c4b`,
    `fc-${"0f1e2d3c".repeat(4)}`,
    `sk_${"0f1e2d3c".repeat(6)}`,
    `1/1234567890123456:${"0f1e2d3c".repeat(4)}`,
  ].map((token) => `using «${token}» now`),
}

const MARKED = /«([^»]*)»/g

test.each(
  Object.entries({ ...LINES, ...WRITTEN }).flatMap(([rule, lines]) => lines.map((marked) => [rule, marked] as const)),
)("%s: %j", (_, marked) => {
  // line breaks within a secret stay
  const expected = marked.replace(MARKED, (_, secret: string) => `[redacted]${secret.replace(/[^\n]/g, "")}`)
  expect(redact(marked.replace(MARKED, "$1"))).toBe(expected)
})

test.each([
  "rabbitmqctl list_users",
  "sudo rabbitmqctl stop_app",
  "hmac.new(key, body, hashlib.sha256)",
  "login(email: String!, password: String!): Session",
  'rg "password|secret|token|api_key" src',
  'Buffer.from("data:text/plain").toString("base64")',
  "echo -n 'localhost:8080' | base64",
  "grep -rn 'password\\|secret\\|token' src",
  "error TS2339: Property 'password' does not exist on type 'User'.",
  "Usage: deploy push --token <TOKEN> [--force]",
  "aws ssm get-parameter --name /shop/password --with-decryption",
  'password: "Must be at least 8 characters"',
  "winreg.KEY_READ | winreg.KEY_WOW64_32KEY",
  "PWD=/home/bob/projects/shop",
  "PASS TestLogin\nPASS test_login_works",
  "access code 2024",
  "secret: four word long text here",
  'connect("10.0.0.1", 1883, 60, "topic/name")',
  "BUNDLE_PATH: vendor:bundle",
  "Authentication token\nexpires_in_3600",
  "GOOGLE_APPLICATION_CREDENTIALS=/home/bob/keys/shop.json",
  "WARNING! Using --password via the CLI is insecure. Use --password-stdin.",
  "- `--password`: prompt for the password",
  "curl -u user:password https://api.shop.dev",
  "ssh -i ~/.ssh/deploy_key root@10.0.0.1",
  "'password' => 'required|string|min:8|confirmed',",
  "Access-Control-Allow-Headers: Authorization, Content-Type, X-Api-Key",
  "/app/.env\n/app/src/index.ts\n/app/src/main.ts",
  "config/master.key\nconfig/routes.rb",
  "keys/public.pem\nsrc/auth.ts:41:  return verify(body)",
  "SSL_KEY_FILE=./certs/server.key\nPORT=3000\nLOG_LEVEL=debug",
  "    file: ./secrets/db_password.txt\nvolumes:\n  data: {}",
  `      DB_PASSWORD: \${DB_PASSWORD:?required}`,
  "Reported by ann@shop.dev / bob@shop.dev",
  "random randomseed frexp ceil floor rad abs sqrt modf asin min mod fmod tan",
])("%s stays as it is", (line) => expect(redact(line)).toBe(line))
