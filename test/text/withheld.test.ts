// The second rule: beside words that speak of secrets, and in what a secret file or command shows, values are left out that
// no pattern knows. Code, hashes and ids stay.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { sourceOf, withoutSecrets } from "../../src/session/source.ts"
import { toolEventOf } from "../../src/session/tool-event.ts"
import { redact, redactLine } from "../../src/text/redact/redact.ts"
import { isPlaceholder } from "../../src/text/redact/value.ts"
import { isSecretCommand, isSecretFile } from "../../src/text/redact/withheld.ts"
import { drawer } from "../support/planted.ts"
import { read, SessionBuilder, tool } from "../support/session.ts"

const draw = drawer(3)
const ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
const value = draw.of(ALNUM, 14)

test.each([
  ["a call", `await signIn(session, "bob", "${value}")`],
  ["prose", `the session of bob / ${value} until Friday`],
  ["a table's row", `| user | login |\n| ---- | ----- |\n| bob  | ${value} |`],
  ["an entry below a name", `credentials:\n  bar: "${value}"`],
  ["a row that failed", `Detail: Failing row contains (1, bob, ${value}).`],
  ["another language", `podaj hasło, czyli ${value}`],
  ["a value with blanks", `senha: ${value.slice(0, 5)} ${value.slice(5, 10)} 812`],
  ["a value with a quote", `session.open('bob', '${value.slice(0, 7)}"${value.slice(7)}')`],
])("%s", (_, text) => {
  const shown = redact(text)
  expect(shown).toContain("[values withheld]")
  for (let at = 0; at + 5 <= value.length; at++) expect(shown).not.toContain(value.slice(at, at + 5))
  expect(redact(shown)).toBe(shown)
})

const UUID = "0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0"
const DIGITS = "0f1e2d3c4b5a6978".repeat(4)

test.each([
  `Use ${UUID} as token`,
  `req.bearer_auth("${UUID}")`,
  // long runs of digits make it look less random
  "sonar-scanner -Dsonar.login=b68614d68732834ed7817277c74423281385837f",
  "API keys:\n  live: 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  "passwords are amber-pine-lake-95 and pine-moss-fern-01",
  "Use amber-pine-lake-95 as the password.",
  "My password is gone, now it is amber-pine-lake-95.",
  "Nimm amber-pine-lake-95 als Kennwort.",
  // the parts between the signs are short
  "type in pine_4wcO.XQBLLUv at the password prompt",
  // an entity, or what looks like one, ends the value
  "set x &quot;JQoBPasshzgBB9p1d0pine&quot;",
  "https://shop.dev/a?zz=Kd83jfKs93kfKd02pine&page=2",
  // words and numbers, as people choose passwords
  'what about the session\'s "pine7731"?',
  "the secret is here (AmberPine77)",
  "Login or P1ne_77?",
  // names in other places of a line
  'REDISCLI_AUTH="pine7731"',
  "NTLM     : d4098b67c3778b271ad5bac49348eea5",
  "the community string AmberPine77",
  "Access code: AmberPine77",
  "Der Schlüssel heißt AmberPine77",
  `password_pbkdf2 root ${"0F1E2D3C".repeat(8)}`,
  `tokens { leader = none, and on the next nodes of the cluster in the other region = "${UUID}" }`,
  // a document whose name is that of a public key's number
  '{"x": "{\\"content\\":\\"csk-6dg3leb7wyarkut0ri0o85580vgzm4nfee7urhno064ipq0f\\"}"}',
  // a command without a prompt
  "bw get password shop\npine!Rmzv16&BJX",
  "     1\tlpass show shop\n     2\tamber-pine-20",
  `Save this token, you won't see it again:\n\n    ${DIGITS}\n`,
  `00001| ✔ Created new API key\n00002| \n00003|   ${UUID}`,
])("in %j the value is left out", (text) => {
  const shown = redact(text)
  expect(shown).toContain("[values withheld]")
  expect(shown).not.toMatch(/pine|p1ne|[0-9a-f]{8}/i)
})

test.each([
  `token refreshed for user_id ${UUID}`,
  `invalid token of session ${UUID}`,
  `order ${UUID} uses secret santa mode`,
  "the token bucket on prod-web-server-01 is empty",
  'the session\'s sha: "1234567890abcdef"',
  `Tokens of this commit:\n\n  ${DIGITS}\n`,
  `{"output":"token fixed\\n${"0f1e2d3c4b".repeat(4)}\\trefs/heads/main"}`,
  "the key of utf8mb4_0900_ai_ci, sha256sum, Http404 and UInt8Array128",
])("in %j nothing is left out", (text) => expect(redact(text)).toBe(text))

test("a password with an @, of which a host's name has none beside a key", () => {
  expect(redact('network "Staff", key: Admin@1234')).not.toContain("1234")
  expect(redact("the key of root@web01")).toBe("the key of root@web01")
})

test("a phrase and a number in quotes beside a secret's name", () => {
  expect(redact('keyring.set_password("svc", "bob", "tiger-amber-pine-28")')).not.toContain("amber")
  expect(redact('the hosts are "prod-web-server-01" and "prod-web-server-02"')).toContain("prod-web-server-01")
})

test.each([
  ["a prompt's command", "$ vault kv get -field=value secret/shop\nplainwords"],
  ["a search in a secret file", "$ grep DB_PASSWORD .env | cut -d= -f2\nplainwords"],
  ["a query at its prompt", "sqlite> select token from sessions;\nplainwords"],
  ["a file's heading", "==> .env <==\nGREETING=plainwords"],
  ["a patch", "*** Update File: config/master.key\n+plainwords"],
])("what %s shows is left out whatever it looks like", (_, text) => {
  expect(redact(text)).not.toContain("plainwords")
  expect(redact(text)).toContain("[values withheld]")
})

test.each([
  [".env", "read", { filePath: "/home/dev/shop/.env" }],
  ["a printed environment", "bash", { command: "cd shop && printenv | sort" }],
  ["a state", "bash", { command: "cat infra/terraform.tfstate" }],
  ["a secret of Kubernetes", "bash", { command: "kubectl -n shop get secret db -o yaml" }],
])("of %s only names are quoted; the part keeps the original", (_, name, input) => {
  const part = {
    ...{ type: "tool", id: "p", callID: "c", tool: name, status: "completed", input, metadata: {}, removed: false },
    output: "GREETING=hello world\nFAREWELL: bye",
  } as Parameters<typeof sourceOf>[0]
  expect(withoutSecrets(sourceOf(part)).output).toBe("GREETING= [values withheld]\nFAREWELL: [values withheld]")
  expect(part.output).toContain("hello")
})

test.each([
  "password: string",
  "const token = getToken()",
  "token.text",
  "the key is in git diff 617fc5e^ 617fc5e~2",
  "secretKeyRef:\n  name: db\n  key: password",
  "apiKey: process.env.API_KEY",
  "max_tokens: 400",
  "fix token refresh (a1b2c3d)",
  "3f786850e387550fdab836ed7e6dc881de23001b fix the login",
  "session 123e4567-e89b-12d3-a456-426614174000 closed",
  "webviewView.webview.onDidReceiveMessage((token) => {",
  "const passwordService = new PasswordServiceFactory(mcpParams, runnerCwd)",
  "func TestCredentialStoreEmptyBaseURL(t *testing.T) {",
  "task_id: ses_39b7f65c2ffephtC1JYRZ2CETu (for resuming)",
  'folded r4k9z2x1 · read · "session"',
  "cp .env.example .env",
  "Edit .env and set the variables it names",
  "curl https://api.example.com/v1/orders?page=2",
  "/private/tmp/go-build-E7DmT9/x_test.go:12: the login failed",
])("%p stays as it is", (text) => {
  expect(redact(text)).toBe(text)
})

test("a command with its token in a variable keeps its address", () => {
  const command = 'curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/orders'
  expect(redact(command)).toBe(command)
})

test("raw text is redacted before it becomes one line", () => {
  const shown = redactLine(`kind: Secret\ndata:\n  note: ${value.toLowerCase()}\nmetadata:\n  name: shop`)
  expect(shown).not.toContain(value.toLowerCase().slice(0, 6))
  expect(shown).toContain("name: shop")
})

test.each([
  ["are known by their lines", "recovery codes\n1234-5678\n8765-4321\nend", "recovery codes[redacted] end"],
  ["stand below their name", "SECRET_KEY_BASE\n\n= 99aabbccddeeff0011223344", "SECRET_KEY_BASE = [redacted]"],
  ["stand below an option", "--password\nhunter2xyz9", "--password [redacted]"],
])("one line of a text holds no secrets that %s", (_, text, shown) => {
  expect(redactLine(text)).toBe(shown)
})

test.each(
  [
    "a ",
    "# k get ",
    "# kubectl get pod -n k ",
    "#\t  ",
    "password  ",
    "token a1B2 ",
    "$ vault kv get x\n",
    "/x",
    'password="',
    "cat .env; ",
    "kubectl get ",
    "a1B2c3D4/",
  ].map((piece) => [piece]),
)("100 kB of %j take linear time", (piece) => {
  const text = piece.repeat(Math.ceil(100_000 / piece.length))
  expect(redact(`${text}\n@x`).endsWith("x")).toBe(true)
})

test.each(["k get ", "kubectl get pod -n k ", "gpg ", "cat secret", "secret", "/run/secrets/", " "])(
  "a command or a path of 100 kB of %j is judged in linear time",
  (piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length))
    expect(isSecretCommand(`echo ${text}`)).toBeBoolean()
    expect(isSecretCommand(`vault kv get x; ${text}`)).toBe(true)
    expect(isSecretFile(`${text}.env`)).toBeBoolean()
  },
)

test.each([
  ["kubectl get secrets -A", false],
  ["kubectl -n shop get secret db -o yaml", true],
  ["kubectl describe secret db", true],
  ["vault kv list secret/shop", false],
  ["vault kv get secret/shop", true],
  ["op item list", false],
  ["op item get shop", true],
  ["gh auth status", false],
  ["gh auth status --show-token", true],
  ["cat /etc/pgbouncer/userlist.txt", true],
  ["cd ~/.aws && cat credentials", true],
  ["sudo cat /etc/shadow", true],
  ["cat secrets/token.txt", true],
  ["grep root /etc/shadow", true],
  ["rg credentials src/", false],
  ["grep -rn 'shadow' styles | head", false],
  ["gh pr comment 7 --body \"$(cat <<'EOF'\nwhat if the shadow branch is deleted\nEOF\n)\"", false],
  ["psql -c 'select id, token from sessions'", true],
  ["psql -c 'select sum(tokens), max_token from calls'", false],
])("whether %s shows values: %p", (command, expected) => {
  expect(isSecretCommand(command)).toBe(expected)
})

test.each([
  ["multiedit", { filePath: "/p/.env", edits: [{ oldString: "COLOR=kartoffel", newString: "COLOR=kartoffel_gut" }] }],
  [
    "filesystem_edit_file",
    { path: "/p/.env", edits: [{ oldText: "COLOR=kartoffel", newText: "COLOR=kartoffel_gut" }] },
  ],
  ["str_replace_based_edit_tool", { path: "/p/.env", old_str: "COLOR=kartoffel", new_str: "COLOR=kartoffel_gut" }],
  ["morph_edit", { target_filepath: "/p/.env", code_edit: "COLOR=kartoffel" }],
  ["create_text_file", { relative_path: ".env", file_text: "COLOR=kartoffel" }],
  ["roo_apply_diff", { path: ".env", diff: "-COLOR=kartoffel" }],
  ["s3_put_object", { Bucket: "b", Key: "config/.env", Body: "COLOR=kartoffel" }],
  ["gist_create", { files: { ".env": { content: "COLOR=kartoffel" }, "dev.tfvars": "COLOR=kartoffel" } }],
  ["github_push_files", { branch: "main", files: [{ path: ".env", content: "COLOR=kartoffel" }] }],
])("what %s writes into a secret file loses its values", (name, input) => {
  const [message] = conversationOf(new SessionBuilder().assistant([tool(name, input, "Done.")]).messages)
  const call = message?.parts.find((one) => one.type === "tool")
  if (!call) throw new Error("no call")
  const shown = JSON.stringify(withoutSecrets(sourceOf(call)).input)
  expect(shown).toContain("COLOR")
  expect(shown).not.toContain("kartoffel")
})

test.each([
  { key: "DB_PASSWORD", value: "@" },
  { element: "Password field", ref: "e12", text: "@" },
  { selector: "input[name=password]", value: "@" },
  { fields: [{ name: "Password", type: "textbox", ref: "e3", value: "@" }] },
  { text: "@", field: "password" },
  { secret: { name: "db", value: "@" } },
  { secrets: { db: "@" } },
  { args: ["login", "--password", "@"] },
  { args: ["mysql", "-u", "root", "-p@"] },
  { args: ["-u", "ada:@", "https://shop.example"] },
  { command: "AUTH", args: ["default", "@"] },
  { question: "What is the database password?", answer: "@" },
  { kind: "Secret", metadata: { name: "db" }, data: { dsn: "@" } },
  { kind: "Secret", metadata: { name: "db" }, stringData: { dsn: "@" } },
  { secureJsonData: { httpHeaderValue1: "@" } },
])("an argument that another one calls a secret: %j", (input) => {
  const planted = JSON.parse(JSON.stringify(input).replace("@", "Falcon4471"))
  const [message] = conversationOf(new SessionBuilder().assistant([tool("mcp_do", planted, "Done.")]).messages)
  const call = message?.parts.find((one) => one.type === "tool")
  if (!call) throw new Error("no call")
  expect(JSON.stringify(withoutSecrets(sourceOf(call)).input)).not.toContain("Falcon")
  const event = toolEventOf(call, { messageID: "m" }, createEnv())
  expect(event.summary + event.attempt).not.toContain("Falcon")
})

test.each([
  { pattern: "password", path: "src/auth/login2024.ts" },
  { paths: ["src/auth/password.ts", "src/login2.ts"] },
  { label: "Password", text: "Enter your password" },
  { paths: ["src/größe2.ts", "docs/Übung12.md"], query: "café2024" },
  { style: { shadow: "0 1px 2px" } },
  { operation: "GetSecretValue", parameters: { SecretId: "shop/db" } },
  { name: "shop", schema: { toString: "text", valueOf: 1 } },
])("arguments that hold no secret stay: %j", (input) => {
  const [message] = conversationOf(new SessionBuilder().assistant([tool("mcp_do", input, "Done.")]).messages)
  const call = message?.parts.find((one) => one.type === "tool")
  expect(call && withoutSecrets(sourceOf(call)).input).toEqual(input)
})

test.each([
  [{ env: ["A=1", "DB_PASSWORD=Falcon4471"] }, { env: ["A=1", "DB_PASSWORD=[redacted]"] }],
  [
    { element: "Kennwortfeld", text: "Herbst77x" },
    { element: "Kennwortfeld", text: "[redacted]" },
  ],
  [
    { element: "Neue Passworteingabe", text: "Herbst77x" },
    { element: "Neue Passworteingabe", text: "[redacted]" },
  ],
  [
    { element: "パスワード入力欄", text: "Herbst77x" },
    { element: "パスワード入力欄", text: "[redacted]" },
  ],
  [
    { channel: "C1", text: "The password is Falcon4471 as before" },
    { channel: "C1", text: "The password is [redacted] as before" },
  ],
])("of an argument that tells of a secret itself, only the secret is removed: %j", (input, shown) => {
  const [message] = conversationOf(new SessionBuilder().assistant([tool("mcp_do", input, "Done.")]).messages)
  const call = message?.parts.find((one) => one.type === "tool")
  expect(call && withoutSecrets(sourceOf(call)).input).toEqual(shown)
})

test.each([
  { pin: 482913, selector: "field-7", password: "Falcon4471" },
  { a: { b: { c: { d: { e: { f: { g: { h: "deep-1" } } } } } } }, selector: "field-7", password: "Falcon4471" },
])("of what a tool repeats, the secret is removed and nothing else: %j", (input) => {
  const [message] = conversationOf(
    new SessionBuilder().assistant([tool("mcp_do", input, "Falcon4471 in field-7")]).messages,
  )
  const call = message?.parts.find((one) => one.type === "tool")
  expect(call && withoutSecrets(sourceOf(call)).output).toBe("[redacted] in field-7")
})

// it takes more than 100 ms, which a request would wait for
test("what a file of secrets contains is not redacted when it is read, but when it is shown", () => {
  const content = Array.from({ length: 4000 }, (_, at) => `service_${at}: { password: "pw${at}xYz!${at * 7919}" }`)
  const part = read("config/secrets.yaml", content.join("\n"))
  const [message] = conversationOf(new SessionBuilder().assistant([part]).messages)
  const call = message?.parts.find((one) => one.type === "tool")
  if (!call) throw new Error("no call")
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now()
    toolEventOf(call, { messageID: "m" }, createEnv())
    return performance.now() - began
  })
  expect(Math.min(...times)).toBeLessThan(25)
})

test("a bracket within a string does not end the string", () => {
  const shown = redact(`{"kind": "Secret", "data": {"note": "plain}words plain"}}`)
  expect(shown).not.toContain("words")
})

// each of these once exceeded the test's time limit
test.each([
  ["tokens that may be cut off", `${"npm_".repeat(25_000)} x`],
  ["blocks without a value", "password: {} ".repeat(20_000)],
  ["manifests", "kind: Secret\ndata: {}\n".repeat(4_500)],
  ["keys of products", "AAAAA-".repeat(50_000)],
  ["words that end a name", "密码是".repeat(100_000)],
  ["sentences without blanks", "、密码是".repeat(75_000)],
  ["users and hosts", "a:b@1.2.3.4".repeat(50_000)],
  ["users and other hosts", "a:bcdefgh@x.".repeat(20_000)],
  ["lists of numbers", "key [12,".repeat(20) + "12,".repeat(50_000)],
  ["escaped signs", "&quot;password&quot;".repeat(10_000)],
  ["names before a value of the registry", `${"key".repeat(66_000)} reg_`],
])("%s take linear time", (_, text) => {
  expect(redact(`${text}\n@x`).endsWith("x")).toBe(true)
})

test("arguments with thousands of fields that hold values take linear time", () => {
  const input = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`cell_${at}_value`, `row ${at} of the sheet`]),
  )
  const [message] = conversationOf(new SessionBuilder().assistant([tool("sheet_update", input, "Done.")]).messages)
  const call = message?.parts.find((one) => one.type === "tool")
  expect(call && Object.keys(withoutSecrets(sourceOf(call)).input)).toHaveLength(3_000)
})

test("a long chain of references is judged in linear time", () => {
  const reference = ["$", "{a}"].join("")
  expect(isPlaceholder(`${reference}-${reference}`)).toBe(true)
  const chain = `${`'${reference}`.repeat(70)}a`
  for (let time = 0; time < 20; time++) expect(isPlaceholder(chain)).toBe(false)
})
