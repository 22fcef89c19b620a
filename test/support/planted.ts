// Secrets of many kinds as real outputs have them, from a seeded generator: the same on every run, and in no file. Known formats
// are assembled from pieces.

/** No twelve consecutive characters of any of `parts` may appear anywhere. */
export type Plant = { kind: string; parts: string[]; text: string }

export type Draw = {
  below(count: number): number
  of(alphabet: string, length: number): string
}

const LOWER = "abcdefghijklmnopqrstuvwxyz"
const DIGITS = "0123456789"
const ALNUM = `${LOWER}${LOWER.toUpperCase()}${DIGITS}`
const BASE64 = `${ALNUM}+/`
const URLSAFE = `${ALNUM}-_`
const HEX = "0123456789abcdef"

/** A linear congruential generator: the same draws for the same seed. */
export function drawer(seed: number): Draw {
  let state = seed
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  return {
    below,
    of: (alphabet, length) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join(""),
  }
}

type Kind = (draw: Draw) => { parts: string[]; text: string }

/** A kind of one value. */
const one =
  (drawn: (draw: Draw) => string, textOf: (value: string) => string): Kind =>
  (draw) => {
    const value = drawn(draw)
    return { parts: [value], text: textOf(value) }
  }
const alnum = (length: number) => (draw: Draw) => draw.of(ALNUM, length)
/** A password as a generator of passwords makes it. */
const password = (draw: Draw) => `${draw.of(ALNUM, 7)}${draw.of("!#%*+^~", 1)}${draw.of(ALNUM, 6)}${draw.of(DIGITS, 2)}`
const BEGIN = (what: string) => `-----${"BEGIN"} ${what}-----`
const END = (what: string) => `-----${"END"} ${what}-----`

/** A key's block: rows of base64, the last one shorter. */
function block(draw: Draw, what: string, first: string, rows: number, width: number, head: string[] = []) {
  const lines = Array.from(
    { length: rows },
    (_, at) => (at === 0 ? first : "") + draw.of(BASE64, width - (at ? 0 : first.length)),
  )
  lines.push(`${draw.of(BASE64, 22)}==`)
  return {
    parts: lines.map((line) => line.slice(-20)),
    lines,
    text: [BEGIN(what), ...head, ...lines, END(what)].join("\n"),
  }
}

export const KINDS: Readonly<Record<string, Kind>> = {
  "an exported variable": one(alnum(32), (value) => `export PAYMENTS_TOKEN=${value}`),
  "a .env file's password": one(password, (value) => `NODE_ENV=production\nDB_PASSWORD=${value}\nPORT=3000`),
  "a JSON key": one(alnum(28), (value) => `{ "region": "eu", "apiKey": "${value}", "retries": 3 }`),
  "a YAML password": one(password, (value) => `database:\n  user: shop\n  password: ${value}\n  pool: 5`),
  "a TOML secret": one(alnum(30), (value) => `[auth]\nclient_secret = "${value}"\nttl = 60`),
  "a property": one(password, (value) => `spring.datasource.username=shop\nspring.datasource.password=${value}`),
  "npm's configuration": one(alnum(36), (value) => `//registry.example.com/:_authToken=${value}\nalways-auth=true`),
  "a .netrc": one(password, (value) => `machine git.example.com login shop password ${value}`),
  "a .pgpass": one(alnum(16), (value) => `db.example.com:5432:shop:app:${value}`),
  "Docker's configuration": one(
    (draw) => draw.of(ALNUM, 26),
    (value) => `{ "auths": { "https://index.example.com/v1/": { "auth": "${value}9zQ==" } } }`,
  ),
  "a kubeconfig": one(
    (draw) => draw.of(BASE64, 180),
    (value) => `- name: admin\n  user:\n    client-key-data: ${value}`,
  ),
  "a Kubernetes secret": one(
    (draw) => draw.of(ALNUM, 24),
    (value) => `apiVersion: v1\ndata:\n  dsn: ${value}\n  mode: bGl2ZQ==\nkind: Secret\nmetadata:\n  name: shop`,
  ),
  "an RSA key": (draw) => block(draw, "RSA PRIVATE KEY", "MIIEowIBAAKCAQEA", 12, 64),
  "an encrypted key": (draw) =>
    block(draw, "RSA PRIVATE KEY", "", 8, 64, [
      "Proc-Type: 4,ENCRYPTED",
      "DEK-Info: AES-128-CBC,0F1E2D3C4B5A69788796A5B4C3D2E1F0",
      "",
    ]),
  "an OpenSSH key": (draw) => block(draw, "OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", 6, 70),
  "a PGP key": (draw) => block(draw, "PGP PRIVATE KEY BLOCK", "lQOYBF", 10, 64, ["Version: GnuPG v2", ""]),
  "a PuTTY key": (draw) => {
    const rows = [draw.of(BASE64, 64), draw.of(BASE64, 64), draw.of(BASE64, 30)]
    const mac = draw.of(HEX, 40)
    return {
      parts: [...rows, mac],
      text: `PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: shop\nPrivate-Lines: 3\n${rows.join("\n")}\nPrivate-MAC: ${mac}`,
    }
  },
  "a key that lost its beginning": (draw) => {
    const { parts, lines } = block(draw, "PRIVATE KEY", "", 4, 64)
    return { parts, text: `${lines.join("\n")}\n${END("PRIVATE KEY")}` }
  },
  "a service account's JSON": (draw) => {
    const { parts, lines } = block(draw, "PRIVATE KEY", "MIIEvQIBADANBgkq", 6, 64)
    const key = [BEGIN("PRIVATE KEY"), ...lines, END("PRIVATE KEY"), ""].join("\\n")
    return {
      parts,
      text: `{ "type": "service_account", "project_id": "shop", "private_key": "${key}", "client_id": "1" }`,
    }
  },
  "a bearer header": one(
    (draw) => draw.of(URLSAFE, 40),
    (value) => `> GET /v1/orders HTTP/2\n> Authorization: Bearer ${value}\n> Accept: */*`,
  ),
  "a header of its own": one(alnum(32), (value) => `curl -H "X-Api-Key: ${value}" https://api.example.com`),
  "a cookie": one(
    alnum(32),
    (value) => `> Cookie: theme=dark; sid=${value}\n< Set-Cookie: sid=${value}; Path=/; HttpOnly`,
  ),
  "a PostgreSQL address": one(alnum(18), (value) => `connecting to postgres://shop:${value}@db.example.com:5432/shop`),
  "a MongoDB address": one(alnum(16), (value) => `MONGO=mongodb+srv://shop:${value}@c0.example.mongodb.net/shop?w=1`),
  "an ADO.NET connection": one(
    password,
    (value) => `Server=tcp:sql.example.net,1433;User ID=shop;Password=${value};Encrypt=True;`,
  ),
  "a JDBC connection": one(
    alnum(16),
    (value) => `jdbc:mysql://db.example.com/shop?user=shop&password=${value}&useSSL=true`,
  ),
  "an Azure account": one(
    (draw) => draw.of(BASE64, 86),
    (value) => `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${value}==;EndpointSuffix=core.windows.net`,
  ),
  "an Azure signature": one(
    alnum(43),
    (value) => `https://shop.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=${value}%3D`,
  ),
  "a presigned address": one(
    (draw) => draw.of(HEX, 64),
    (value) => `https://shop.s3.amazonaws.com/f?X-Amz-Expires=60&X-Amz-Signature=${value}&x-id=GetObject`,
  ),
  "a hook's address": one(
    alnum(24),
    (value) => `notify https://hooks.slack.com/${"services"}/T0${"12345678"}/B0${"12345678"}/${value}`,
  ),
  "a JWT": one(
    (draw) => draw.of(URLSAFE, 43),
    (value) => `issued ${"eyJ"}hbGciOiJIUzI1NiJ9.${"eyJ"}zdWIiOiIxIn0.${value}`,
  ),
  "a GitHub token": one(
    alnum(36),
    (value) => `origin\thttps://shop:${"ghp_"}${value}@github.com/shop/shop.git (fetch)`,
  ),
  "an AWS secret": one(
    (draw) => draw.of(ALNUM, 40),
    (value) => `aws_access_key_id = ${"AKIA"}ABCDEFGHIJKLMNOP\naws_secret_access_key = ${value}`,
  ),
  "a payment key": one(alnum(24), (value) => `stripe: invalid key ${"sk_" + "live_"}${value} for account`),
  "a model's key": one(
    (draw) => `${draw.of(URLSAFE, 47)}Q`,
    (value) => `Error: 401 Incorrect API key provided: ${"sk-" + "proj-"}${value}`,
  ),
  "a program's flag": one(password, (value) => `+ deploy --env live --password ${value} --wait`),
  "a flag of one letter": one(alnum(14), (value) => `mysql -h db.example.com -u root -p${value} shop`),
  "curl's user": one(alnum(16), (value) => `curl -s -u shop:${value} https://ci.example.com/job/shop`),
  "Terraform's output": one(password, (value) => `db_host = "db.example.com"\ndb_password = "${value}"\nregion = "eu"`),
  "a query": one(alnum(32), (value) => `"GET /callback?state=1&access_token=${value}&scope=all HTTP/1.1" 200 12`),
  "a failed expectation": one(
    alnum(20),
    (value) => `- Expected\n+ Received\n-   "sessionToken": "${value}",\n+   "sessionToken": null,`,
  ),
  "a container's environment": one(
    password,
    (value) => `"Env": ["PATH=/usr/bin", "REDIS_PASSWORD=${value}", "TZ=UTC"]`,
  ),
}

export function plantsOf(seed: number): Plant[] {
  const draw = drawer(seed)
  return Object.entries(KINDS).map(([kind, make]) => ({ kind, ...make(draw) }))
}

/** Consecutive characters that count as half of a secret. */
const TELLING = 12

/** Searches for pieces of planted secrets, of as many characters; returns the kinds found. */
export function searcher(
  plants: readonly { name: string; parts: readonly string[] }[],
  chars = TELLING,
): (text: string) => Set<string> {
  const known = new Map<string, string>()
  for (const { name, parts } of plants)
    for (const part of parts)
      for (let at = 0; at === 0 || at + chars <= part.length; at++) known.set(part.slice(at, at + chars), name)
  return (text) => {
    const found = new Set<string>()
    for (let at = 0; at + chars <= text.length; at++) {
      const name = known.get(text.slice(at, at + chars))
      if (name !== undefined) found.add(name)
    }
    return found
  }
}
