// Secrets as tools print them, in the syntax of each tool's own documentation. `{}` is the value. The rules that remove
// secrets were not consulted for this list, so it measures them.

import { type Draw, drawer, type Plant } from "../support/planted.ts"

/** chosen: by a person; worded: by a person, of words; issued: by a machine, of letters and digits. */
type Kind = { kind: string; values: "chosen" | "worded" | "issued"; forms: readonly string[] }

const KINDS: readonly Kind[] = [
  {
    kind: "dotenv",
    values: "chosen",
    forms: [
      "NODE_ENV=production\nDB_PASSWORD={}\nPORT=3000",
      'APP_NAME=shop\nMAIL_PASSWORD="{}"\nMAIL_PORT=587',
      "export ADMIN_PASS='{}'",
      "SMTP_USER=ops\nSMTP_PASSWD={}",
      "# local only\nREDIS_PASSWORD = {}\nREDIS_DB=0",
    ],
  },
  {
    kind: "shell variables",
    values: "issued",
    forms: [
      "export STRIPE_SECRET_KEY={}",
      "set -x GITLAB_TOKEN {}",
      'declare -x NPM_TOKEN="{}"',
      "$env:AZURE_CLIENT_SECRET = '{}'",
      "SENTRY_AUTH_TOKEN={} npm run build",
    ],
  },
  {
    kind: "docker",
    values: "chosen",
    forms: [
      'docker run -d -e MYSQL_ROOT_PASSWORD="{}" mysql:8',
      "docker login -u ops -p {} ghcr.io",
      '"Env": ["POSTGRES_PASSWORD={}", "PGDATA=/data"]',
      "ENV ADMIN_PASSWORD={}",
      'docker build --build-arg REGISTRY_PASSWORD="{}" .',
    ],
  },
  {
    kind: "docker config.json",
    values: "issued",
    forms: [
      '{\n  "auths": {\n    "ghcr.io": {\n      "auth": "{}"\n    }\n  }\n}',
      '{"auths":{"https://index.docker.io/v1/":{"auth":"{}"}}}',
      '{\n\t"auths": {\n\t\t"r.example.com": {\n\t\t\t"identitytoken": "{}"\n\t\t}\n\t}\n}',
      '{"auths":{"r.example.com":{"username":"ops","password":"{}","email":"o@example.com"}}}',
      '{"credsStore":"","auths":{"quay.io":{"registrytoken":"{}"}}}',
    ],
  },
  {
    kind: "docker compose",
    values: "chosen",
    forms: [
      "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {}\n      POSTGRES_DB: shop",
      'services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD="{}"\n      - TZ=UTC',
      'x-env: &env\n  RABBITMQ_DEFAULT_PASS: "{}"',
      "    command: redis-server --requirepass {}",
      "    environment:\n      - MONGO_INITDB_ROOT_PASSWORD={}",
    ],
  },
  {
    kind: "kubernetes secret",
    values: "issued",
    forms: [
      "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ntype: Opaque\ndata:\n  dsn: {}",
      "apiVersion: v1\ndata:\n  conn: {}\nkind: Secret\nmetadata:\n  name: shop",
      'apiVersion: v1\nkind: Secret\nstringData:\n  config.yaml: "{}"\n',
      '{\n  "apiVersion": "v1",\n  "data": {\n    "value": "{}"\n  },\n  "kind": "Secret"\n}',
      "kind: Secret\napiVersion: v1\nstringData:\n  settings: |\n    {}\n",
    ],
  },
  {
    kind: "kubectl",
    values: "issued",
    forms: [
      "kubectl create secret generic shop --from-literal=password={}",
      "kubectl create secret docker-registry reg --docker-username=ops --docker-password={}",
      "users:\n- name: admin\n  user:\n    token: {}",
      "kubectl config set-credentials admin --token={}",
      "users:\n- name: admin\n  user:\n    username: admin\n    password: {}",
    ],
  },
  {
    kind: "helm values",
    values: "chosen",
    forms: [
      "auth:\n  rootPassword: {}\n  username: shop",
      'grafana:\n  adminPassword: "{}"',
      "helm upgrade shop ./chart --set postgresql.auth.password={}",
      "postgresql:\n  auth:\n    postgresPassword: '{}'",
      "redis:\n  auth:\n    password: >-\n      {}\n",
    ],
  },
  {
    kind: "terraform output",
    values: "chosen",
    forms: [
      '{\n  "db_password": {\n    "sensitive": true,\n    "type": "string",\n    "value": "{}"\n  }\n}',
      '{\n  "connection": {\n    "sensitive": true,\n    "type": "string",\n    "value": "{}"\n  }\n}',
      'db_password = "{}"\nregion = "eu-west-1"',
      '  + password = "{}"',
      '      ~ master_password = "{}" -> (sensitive value)',
    ],
  },
  {
    kind: "terraform variables",
    values: "chosen",
    forms: [
      'variable "db_password" {\n  type    = string\n  default = "{}"\n}',
      'variable "api_token" {\n  description = "token of the API"\n  default     = "{}"\n}',
      'db_admin_password = "{}"\nlocation = "westeurope"',
      'resource "aws_db_instance" "db" {\n  username = "root"\n  password = "{}"\n}',
      "terraform apply -var 'db_password={}'",
    ],
  },
  {
    kind: "terraform state",
    values: "chosen",
    forms: [
      '"attributes": {\n  "id": "db-1",\n  "password": "{}",\n  "port": 5432\n}',
      '"outputs": {\n  "dsn": {\n    "value": "{}",\n    "type": "string",\n    "sensitive": true\n  }\n}',
      '"instances": [{"attributes": {"result": "{}", "length": 20}, "sensitive_attributes": [[{"type": "get_attr", "value": "result"}]]}], "type": "random_password"',
      '"master_password": "{}",\n"master_username": "root",',
      '"secret_string": "{}",\n"secret_id": "arn:aws:secretsmanager:eu:1:secret:shop",',
    ],
  },
  {
    kind: "aws",
    values: "issued",
    forms: [
      "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLA\naws_secret_access_key = {}",
      '{\n  "Credentials": {\n    "AccessKeyId": "ASIAIOSFODNN7EXAMPLA",\n    "SecretAccessKey": "{}",\n    "Expiration": "2026-01-01T00:00:00Z"\n  }\n}',
      "export AWS_SESSION_TOKEN={}",
      '{\n  "ARN": "arn:aws:secretsmanager:eu:1:secret:shop",\n  "Name": "shop",\n  "SecretString": "{}"\n}',
      '{\n  "Parameter": {\n    "Name": "/shop/db/password",\n    "Type": "SecureString",\n    "Value": "{}"\n  }\n}',
    ],
  },
  {
    kind: "azure",
    values: "issued",
    forms: [
      "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
      '{\n  "appId": "0a1b2c3d-0000-0000-0000-000000000000",\n  "displayName": "shop",\n  "password": "{}",\n  "tenant": "0a1b2c3d-0000-0000-0000-000000000000"\n}',
      "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
      '{\n  "attributes": {"enabled": true},\n  "id": "https://shop.vault.azure.net/secrets/db/1",\n  "value": "{}"\n}',
      "https://shop.blob.core.windows.net/c/f?sv=2022-11-02&se=2026-01-01&sig={}&sp=r",
    ],
  },
  {
    kind: "google cloud",
    values: "issued",
    forms: [
      '{\n  "client_id": "1.apps.googleusercontent.com",\n  "client_secret": "{}",\n  "refresh_token": "1//x",\n  "type": "authorized_user"\n}',
      '{\n  "type": "authorized_user",\n  "refresh_token": "{}"\n}',
      "access_token: {}\nexpires_in: 3599",
      'curl -H "Authorization: Bearer {}" https://compute.googleapis.com/compute/v1/projects',
      "gcloud sql users set-password root --instance=shop --password={}",
    ],
  },
  {
    kind: "vault",
    values: "chosen",
    forms: [
      "====== Data ======\nKey         Value\n---         -----\npassword    {}\nusername    shop",
      "Key                  Value\n---                  -----\ntoken                {}\ntoken_accessor       abc",
      '{\n  "data": {\n    "data": {\n      "password": "{}"\n    }\n  }\n}',
      "vault kv put secret/shop password={}",
      "vault login token={}",
    ],
  },
  {
    kind: "npm and pip",
    values: "issued",
    forms: [
      "//registry.example.com/:_authToken={}",
      "registry=https://npm.example.com/\n_auth = {}",
      "//npm.example.com/:_password={}",
      "[pypi]\nusername = __token__\npassword = {}",
      "npm config set //npm.example.com/:_authToken {}",
    ],
  },
  {
    kind: "netrc",
    values: "chosen",
    forms: [
      "machine api.example.com\n  login ops\n  password {}",
      "machine git.example.com login ops password {}",
      "default login ops password {}",
      "machine a.example.com login ops account acme password {}",
      "machine api.heroku.com\n  login ops@example.com\n  password {}\nmachine git.heroku.com",
    ],
  },
  {
    kind: "pgpass and psql",
    values: "chosen",
    forms: [
      "db.example.com:5432:shop:ops:{}",
      "*:5432:*:postgres:{}",
      "PGPASSWORD={} psql -h db.example.com -U ops shop",
      "psql 'host=db.example.com user=ops password={} dbname=shop'",
      "localhost:*:shop:ops:{}",
    ],
  },
  {
    kind: "sql",
    values: "chosen",
    forms: [
      "CREATE USER ops WITH PASSWORD '{}';",
      "ALTER ROLE ops PASSWORD '{}';",
      "CREATE USER 'ops'@'%' IDENTIFIED BY '{}';",
      "ALTER LOGIN ops WITH PASSWORD = '{}';",
      "CREATE USER ops ENCRYPTED PASSWORD '{}' CREATEDB;",
    ],
  },
  {
    kind: "mysql",
    values: "chosen",
    forms: [
      "[client]\nuser=ops\npassword={}",
      "mysqldump --user=ops --password='{}' shop",
      "mysql -uops -p{} shop",
      "SET PASSWORD FOR 'ops'@'localhost' = PASSWORD('{}');",
      '[mysql]\nhost = db\npassword = "{}"',
    ],
  },
  {
    kind: "addresses",
    values: "chosen",
    forms: [
      "postgres://ops:{}@db.example.com:5432/shop",
      "DATABASE_URL=mysql://ops:{}@db.example.com/shop?ssl=true",
      "redis://:{}@cache.example.com:6379/0",
      "connecting to mongodb+srv://ops:{}@c0.example.mongodb.net/shop",
      "amqp://ops:{}@mq.example.com:5672/vhost",
    ],
  },
  {
    kind: "jdbc and oracle",
    values: "chosen",
    forms: [
      "jdbc:oracle:thin:ops/{}@db.example.com:1521:ORCL",
      "jdbc:postgresql://db.example.com/shop?user=ops&password={}",
      "jdbc:sqlserver://db.example.com;user=ops;password={};encrypt=true",
      "sqlplus ops/{}@db.example.com/shop",
      "jdbc:db2://db.example.com:50000/shop:user=ops;password={};",
    ],
  },
  {
    kind: "ado.net",
    values: "chosen",
    forms: [
      "Server=tcp:sql.example.net,1433;User ID=ops;Password={};Encrypt=True;",
      '"ConnectionStrings": {\n  "Default": "Server=db;Database=shop;User Id=ops;Password={};"\n}',
      '<add name="Shop" connectionString="Data Source=db;User ID=ops;Pwd={};" />',
      "Host=db;Username=ops;Password={};Database=shop",
      "Driver={ODBC Driver 18};Server=db;UID=ops;PWD={};",
    ],
  },
  {
    kind: "htpasswd",
    values: "chosen",
    forms: [
      "htpasswd -b /etc/nginx/.htpasswd ops {}",
      "htpasswd -bc .htpasswd ops {}",
      "htpasswd -cbB .htpasswd ops '{}'",
      "htpasswd -nb ops {}",
      "htpasswd -bBC 12 .htpasswd ops {}",
    ],
  },
  {
    kind: "curl and wget",
    values: "chosen",
    forms: [
      "curl -u ops:{} https://ci.example.com/api",
      "curl --user 'ops:{}' https://ci.example.com/api",
      "wget --http-user=ops --http-password={} https://files.example.com/a.tgz",
      "wget --user ops --password='{}' https://files.example.com/a.tgz",
      "curl --proxy-user ops:{} -x proxy:3128 https://example.com",
    ],
  },
  {
    kind: "headers",
    values: "issued",
    forms: [
      "> Authorization: Bearer {}",
      "X-Api-Key: {}",
      '"headers": {"Authorization": "token {}"}',
      "PRIVATE-TOKEN: {}",
      "X-Vault-Token: {}",
    ],
  },
  {
    kind: "cookies",
    values: "issued",
    forms: [
      "Set-Cookie: session={}; Path=/; HttpOnly",
      "> Cookie: theme=dark; connect.sid={}",
      "example.com\tFALSE\t/\tTRUE\t1893456000\tsessionid\t{}",
      "JSESSIONID={}",
      'document.cookie = "auth_token={}; path=/"',
    ],
  },
  {
    kind: "git",
    values: "issued",
    forms: [
      "origin\thttps://ops:{}@git.example.com/shop.git (fetch)",
      "https://oauth2:{}@gitlab.example.com",
      "git clone https://x-access-token:{}@github.com/shop/shop.git",
      "protocol=https\nhost=github.com\nusername=ops\npassword={}",
      "git -c http.extraheader='AUTHORIZATION: bearer {}' fetch",
    ],
  },
  {
    kind: "spring and java properties",
    values: "chosen",
    forms: [
      "spring.datasource.username=ops\nspring.datasource.password={}",
      "spring:\n  datasource:\n    password: {}",
      "server.ssl.key-store-password={}",
      "keyPassword={}\nstorePassword={}",
      "signing.password = {}",
    ],
  },
  {
    kind: "maven and tomcat",
    values: "chosen",
    forms: [
      "<server>\n  <id>central</id>\n  <username>ops</username>\n  <password>{}</password>\n</server>",
      '<user username="admin" password="{}" roles="manager-gui"/>',
      '<Connector keystoreFile="conf/k.jks" keystorePass="{}" />',
      '<Resource name="jdbc/shop" username="ops" password="{}" />',
      "<passphrase>{}</passphrase>",
    ],
  },
  {
    kind: "windows",
    values: "chosen",
    forms: [
      'ConvertTo-SecureString "{}" -AsPlainText -Force',
      "<AutoLogon>\n  <Password>\n    <Value>{}</Value>\n    <PlainText>true</PlainText>\n  </Password>\n</AutoLogon>",
      "    DefaultPassword    REG_SZ    {}",
      "net user ops {} /add",
      'New-LocalUser ops -Password (ConvertTo-SecureString -String "{}" -AsPlainText)',
    ],
  },
  {
    kind: "unattend and group policy",
    values: "chosen",
    forms: [
      "<AdministratorPassword>\n  <Value>{}</Value>\n  <PlainText>true</PlainText>\n</AdministratorPassword>",
      "<LocalAccount><Password><Value>{}</Value></Password><Name>ops</Name></LocalAccount>",
      '<Properties action="U" newName="" cpassword="{}" userName="ops"/>',
      "cmdkey /add:files /user:ops /pass:{}",
      "net use Z: \\\\files\\share {} /user:ops",
    ],
  },
  {
    kind: "php",
    values: "chosen",
    forms: [
      "define( 'DB_PASSWORD', '{}' );",
      "'password' => env('DB_PASSWORD', '{}'),",
      "$config['db_password'] = '{}';",
      "define('AUTH_KEY',         '{}');",
      '$mysqli = new mysqli("db", "ops", "{}", "shop");',
    ],
  },
  {
    kind: "rails and django",
    values: "chosen",
    forms: [
      "production:\n  adapter: postgresql\n  username: ops\n  password: {}",
      "SECRET_KEY = '{}'",
      "    'PASSWORD': '{}',\n    'HOST': 'db',",
      "secret_key_base: {}",
      'EMAIL_HOST_PASSWORD = "{}"',
    ],
  },
  {
    kind: "ini",
    values: "chosen",
    forms: [
      "[database]\nuser = ops\npassword = {}",
      "[smtp]\nhost=mail\npass={}",
      "[ldap]\nbind_dn = cn=ops\nbind_password = {}",
      "[oauth]\nclient_secret = {}",
      '[session]\nsecret = "{}"',
    ],
  },
  {
    kind: "wifi and vpn",
    values: "chosen",
    forms: [
      "    Key Content            : {}",
      'network={\n  ssid="home"\n  psk="{}"\n}',
      "802-11-wireless-security.psk:             {}",
      "<sharedKey>\n  <keyType>passPhrase</keyType>\n  <keyMaterial>{}</keyMaterial>\n</sharedKey>",
      "nmcli dev wifi connect home password {}",
    ],
  },
  {
    kind: "ci",
    values: "issued",
    forms: [
      '{"key":"DEPLOY_TOKEN","value":"{}","masked":true}',
      "gh secret set DEPLOY_KEY --body {}",
      "<com.cloudbees.plugins.credentials.impl.UsernamePasswordCredentialsImpl>\n  <username>ops</username>\n  <password>{}</password>",
      "::add-mask::{}",
      "  env:\n    SONAR_TOKEN: {}",
    ],
  },
  {
    kind: "heroku and vercel",
    values: "issued",
    forms: [
      "=== shop Config Vars\nSECRET_KEY_BASE: {}\nTZ:              UTC",
      "heroku config:set API_SECRET={}",
      "vercel env add API_SECRET production <<< {}",
      "fly secrets set SESSION_SECRET={}",
      "wrangler secret put API_TOKEN <<< '{}'",
    ],
  },
  {
    kind: "ansible",
    values: "chosen",
    forms: [
      "ansible_become_password: {}",
      "db ansible_host=10.0.0.5 ansible_user=ops ansible_ssh_pass={}",
      "vault_db_password: '{}'",
      "ansible-playbook site.yml -e 'admin_password={}'",
      '  mysql_user:\n    name: ops\n    password: "{}"',
    ],
  },
  {
    kind: "environment dumps",
    values: "chosen",
    forms: [
      "HOME=/root\nDB_PASS={}\nSHELL=/bin/bash",
      "Environment=DB_PASSWORD={}",
      "GPG_PASSPHRASE={}\nLANG=C.UTF-8",
      'environment=API_SECRET="{}",TZ="UTC"',
      "process.env.JWT_SECRET = '{}'",
    ],
  },
  {
    kind: "json of web services",
    values: "issued",
    forms: [
      '{"access_token":"{}","token_type":"bearer","expires_in":3600}',
      '{"id_token": "{}", "scope": "openid"}',
      '{"user":"ops","password":"{}"}',
      '{"data":{"login":{"token":"{}"}}}',
      '{\\"refreshToken\\":\\"{}\\",\\"ok\\":true}',
    ],
  },
  {
    kind: "tables and csv",
    values: "chosen",
    forms: [
      "username,password,role\nops,{},admin\ndev,x,user",
      " id | username | password \n----+----------+----------\n  1 | ops      | {} \n(1 row)",
      "+----+------+------------------+\n| id | user | password         |\n+----+------+------------------+\n|  1 | ops  | {} |\n+----+------+------------------+",
      "name,url,username,password\nshop,https://shop.example.com,ops,{}",
      "user\tpassword\nops\t{}",
    ],
  },
  {
    kind: "prose",
    values: "chosen",
    forms: [
      'The password is "{}", do not share it.',
      "Log in as ops with the password `{}`.",
      "password for the admin account: {}",
      "Your temporary password is: {}",
      "Use token '{}' for the API.",
    ],
  },
  {
    kind: "password managers",
    values: "chosen",
    forms: [
      '{"login":{"username":"ops","password":"{}","totp":null}}',
      "ID:          abc\nTitle:       shop\nFields:\n  username:    ops\n  password:    {}",
      '{"id":"password","type":"CONCEALED","purpose":"PASSWORD","label":"password","value":"{}"}',
      "echo '{}' | docker login -u ops --password-stdin",
      "keyring set shop ops <<< '{}'",
    ],
  },
  {
    kind: "programs' flags",
    values: "chosen",
    forms: [
      "sshpass -p '{}' ssh ops@host",
      "openssl pkcs12 -export -passout pass:{} -in c.pem",
      "mongosh --username ops --password {} --host db",
      "redis-cli -a {} ping",
      'ldapsearch -D cn=ops -w "{}" -b dc=example',
    ],
  },
  {
    kind: "two factors and wallets",
    values: "issued",
    forms: [
      "otpauth://totp/shop:ops?secret={}&issuer=shop",
      'TWILIO_AUTH_TOKEN="{}"',
      "recovery_key: {}",
      'encryptionKey: "{}"',
      "WEBHOOK_SIGNING_SECRET=whsec_{}",
    ],
  },
  {
    kind: "words in documents",
    values: "worded",
    forms: [
      "database:\n  user: shop\n  password: {}\n  pool: 5",
      '{"user":"ops","password":"{}","retries":3}',
      "<password>{}</password>",
      '[database]\npassword = "{}"\nport = 5432',
      'db = connect(host="db", user="ops", password="{}")',
    ],
  },
  {
    kind: "words in settings",
    values: "worded",
    forms: [
      "DB_PASSWORD='{}'",
      "bind 127.0.0.1\nrequirepass {}\nappendonly yes",
      "spring.datasource.password={}\nserver.port=8080",
      'GF_SECURITY_ADMIN_PASSWORD: "{}"',
      "define( 'DB_PASSWORD', '{}' );",
    ],
  },
  {
    kind: "words in commands",
    values: "worded",
    forms: [
      "mysql --user=ops --password='{}' shop",
      'docker run -e "POSTGRES_PASSWORD={}" postgres:16',
      "mc alias set shop https://s3.example.com --secret-key {}",
      "aws configure set aws_secret_access_key {}",
      "pulumi config set --secret dbPassword {}",
    ],
  },
  {
    kind: "statements with columns",
    values: "chosen",
    forms: [
      "INSERT INTO users (email, password, role) VALUES ('a@example.com', '{}', 'admin');",
      "INSERT INTO `users` (`id`, `api_key`)\nVALUES (1, '{}');",
      "COPY public.users (id, login, password) FROM stdin;\n1\tops\t{}\n\\.",
      "COPY public.settings (id, name, value) FROM stdin;\n1\tsmtp_password\t{}\n2\tlocale\tde\n\\.",
      'INSERT INTO accounts (name, secret) VALUES ("a", "b"), ("ops", "{}")',
    ],
  },
  {
    kind: "signing in",
    values: "worded",
    forms: [
      'smtp.login("ops@example.com", "{}")',
      'requests.get(url, auth=("ops", "{}"))',
      'DriverManager.getConnection("jdbc:postgresql://db/shop", "ops", "{}")',
      "session.auth = HTTPBasicAuth('ops', '{}')",
      "await db.authenticate('ops', '{}')",
    ],
  },
  {
    kind: "redis's clients",
    values: "chosen",
    forms: [
      "127.0.0.1:6379> AUTH {}\nOK\n127.0.0.1:6379> PING",
      "user default on >{} ~* &* +@all",
      '1) "requirepass"\n2) "{}"',
      'command: ["redis-server", "--requirepass", "{}"]',
      'test: ["CMD", "redis-cli", "-a", "{}", "ping"]',
    ],
  },
  {
    kind: "networks and mail",
    values: "worded",
    forms: [
      "hostname sw1\nenable secret 0 {}\nend",
      "username ops privilege 15 password 0 {}",
      "rocommunity {} 10.0.0.0/8\nsyslocation rack",
      "snmpwalk -v2c -c {} 10.0.0.1 sysDescr",
      "[smtp.example.com]:587 ops@example.com:{}",
    ],
  },
  {
    kind: "marks in documents",
    values: "worded",
    forms: [
      '{"cookies":[{"name":"a","value":"{}","domain":"example.com","httpOnly":true}]}',
      '{\n  "key": "base",\n  "value": "{}",\n  "type": "secret"\n}',
      '{"values":{"name":"x","value":"{}"},"sensitive_values":{"value":true}}',
      '[{"key": "KUBE", "value": "{}", "protected": true, "masked": false}]',
      "Parameter:\n  Name: /shop/db\n  Type: SecureString\n  Value: {}",
    ],
  },
  {
    kind: "scripts that answer",
    values: "chosen",
    forms: [
      'spawn ssh ops@host\nexpect "password:"\nsend "{}\\r"',
      "child.expect('Password:')\nchild.sendline('{}')",
      "sudo -S <<< {} systemctl restart shop",
      "fly secrets set PAYMENTS={} --app shop",
      "/shop/db_password\n{}",
    ],
  },
  {
    kind: "what people write",
    values: "chosen",
    forms: [
      'Use "{}" as the API key for staging.',
      "The admin password is {}",
      "staging: user ops, pw {}",
      "Mot de passe : {}",
      "用户名: ops\n密码：{}",
    ],
  },
]

const LOWER = "abcdefghijklmnopqrstuvwxyz"
const ALNUM = `${LOWER}${LOWER.toUpperCase()}0123456789`

type Drawn = { alphabet: string; length: number; with?: readonly string[]; places?: "address" | "quoted" }
/** `words`, joined, capitalised where nothing joins them. */
type Worded = { words: number; joint: string; number?: true; places?: "quoted" }

/** What people choose, and what generators of passwords make for them. */
const CHOSEN: readonly Drawn[] = [
  { alphabet: LOWER, length: 14 },
  { alphabet: LOWER + LOWER.toUpperCase(), length: 16 },
  { alphabet: ALNUM, length: 12, with: ["%"] },
  { alphabet: ALNUM, length: 12, with: ["%23"], places: "address" },
  { alphabet: ALNUM, length: 12, with: ["%40", "%2F"], places: "address" },
  { alphabet: ALNUM, length: 12, with: [" ", " "], places: "quoted" },
  { alphabet: ALNUM, length: 12, with: ["ü", "é"] },
  { alphabet: ALNUM, length: 12, with: ["_", "_"] },
  { alphabet: ALNUM, length: 12, with: ["!", "*"] },
  { alphabet: ALNUM, length: 12, with: ["$", "^"] },
  { alphabet: ALNUM, length: 20 },
]
const ISSUED: readonly Drawn[] = [
  { alphabet: ALNUM, length: 24 },
  { alphabet: ALNUM, length: 40 },
  { alphabet: "0123456789abcdef", length: 40 },
  { alphabet: LOWER + LOWER.toUpperCase(), length: 28 },
  { alphabet: `${ALNUM}-_`, length: 43 },
  { alphabet: `${ALNUM}+/`, length: 42, with: [], places: "quoted" },
  { alphabet: ALNUM, length: 32, with: ["_"] },
]

/** What people make of words, and generators of passphrases. */
const WORDED: readonly Worded[] = [
  { words: 2, joint: "" },
  { words: 3, joint: "-" },
  { words: 4, joint: " ", places: "quoted" },
  { words: 2, joint: "-", number: true },
  { words: 2, joint: "_", number: true },
]
const WORDS =
  "amber badger canyon dapple ember fathom gravel hollow indigo juniper kettle lagoon marble nectar orchid pebble quarry ripple saffron tundra urchin velvet willow yonder zinnia".split(
    " ",
  )

/** Where a value with a blank can stand: between quotes, alone or after its name, or in an element. */
const takesBlanks = (form: string) => /(["'`])(?:[A-Z_]+=)?\{\}\1|>\{\}</.test(form)
const isAddress = (form: string) => /:\/\/|thin:|[?&;]/.test(form)

function drawnValue(drawn: Drawn | Worded, draw: Draw): string {
  if ("words" in drawn) {
    const words = Array.from({ length: drawn.words }, () => WORDS[draw.below(WORDS.length)] ?? "")
    const joined = drawn.joint === "" ? words.map((word) => word[0]?.toUpperCase() + word.slice(1)) : words
    return joined.join(drawn.joint) + (drawn.number ? draw.of("0123456789", 4) : "")
  }
  const { alphabet, length, with: between = [] } = drawn
  const piece = () => draw.of(alphabet, Math.ceil(length / (between.length + 1)))
  return between.reduce((made, sign) => made + sign + piece(), piece())
}

/** Every form of every kind with one value; `seed` decides which values. */
export function documentedPlants(seed: number): Plant[] {
  const draw = drawer(seed)
  const plants: Plant[] = []
  for (const { kind, values, forms } of KINDS)
    for (const [at, form] of forms.entries()) {
      const drawn = values === "chosen" ? CHOSEN : values === "worded" ? WORDED : ISSUED
      const fitting = (drawn as readonly (Drawn | Worded)[]).filter(
        ({ places }) => places === undefined || (places === "quoted" ? takesBlanks(form) : isAddress(form)),
      )
      const value = drawnValue(fitting[draw.below(fitting.length)] as Drawn | Worded, draw)
      plants.push({ kind: `${kind}, form ${at + 1}`, parts: [value], text: form.replaceAll("{}", () => value) })
    }
  return plants
}

export const DOCUMENTED_KINDS = KINDS.length
