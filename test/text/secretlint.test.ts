// secretlint as the referee: each rule of its recommended preset reports the formats it knows, and reports nothing more
// once `redact` has run.

import { describe, expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { redact } from "../../src/text/redact/redact.ts"
import { drawer, plantsOf } from "../support/planted.ts"
import { nameOf, RULES, reportedBy } from "../support/secretlint.ts"

const left = (text: string) =>
  RULES.flatMap((rule) => reportedBy(rule, redact(text)).map((found) => `${nameOf(rule)}: ${found}`))
    // a URL without its password is still reported
    .filter((finding) => !finding.includes("[redacted]"))

const draw = drawer(11)
const CASES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
const alnum = (length: number) => draw.of(`${CASES}0123456789`, length)
const hex = (length: number) => draw.of("0123456789abcdef", length)
const json = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64")
// the rule parses the block, and ignores one that is not a key
const key = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({ type: "pkcs1", format: "pem" })

/** An example of each format of each rule. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "1password": [`ops_${json({ email: "ci@example.com", secretKey: alnum(120), deviceUuid: "x" })}`],
  anthropic: [`${"sk-ant-"}api03-${alnum(93)}AA`],
  aws: [`AWS_SECRET_ACCESS_KEY=${alnum(40)}`],
  basicauth: [`https://deploy:${alnum(20)}@git.example.com/shop`],
  "database-connection-string": [
    `postgres://shop:${alnum(18)}@db.internal:5432/shop`,
    `mysql://shop:${alnum(18)}@db.internal/shop`,
    `mongodb+srv://shop:${alnum(18)}@db.internal/shop`,
  ],
  databricks: [`dapi${hex(32)}`],
  docker: [`dckr_pat_${alnum(27)}`],
  figma: [`figd_${alnum(43)}`],
  github: [`${"gh"}p_${alnum(36)}`, `${"github"}_pat_${alnum(82)}`],
  gitlab: [`${"gl"}pat-${alnum(20)}`],
  grafana: [`glc_${json({ o: "1", n: "stack", k: alnum(24), m: { r: "eu" } })}`, `glsa_${alnum(32)}_${hex(8)}`],
  groq: [`gsk_${alnum(52)}`],
  "hashicorp-vault": [`hvs.${alnum(95)}`, `hvb.${alnum(150)}`],
  huggingface: [`hf_${draw.of(CASES, 34)}`],
  linear: [`lin_api_${alnum(40)}`],
  notion: [`ntn_${draw.of("0123456789", 11)}${alnum(35)}`],
  npm: [`npm_${alnum(36)}`],
  openai: [`sk-${alnum(20)}T3BlbkFJ${alnum(20)}`],
  privatekey: [key.toString()],
  sendgrid: [`SG.${alnum(22)}.${alnum(43)}`],
  shopify: [`shpat_${alnum(32)}`],
  slack: [
    `xoxb-${draw.of("0123456789", 12)}-${alnum(24)}`,
    `https://hooks.slack.com/services/T${alnum(8)}/B${alnum(8)}/${alnum(24)}`,
  ],
  vercel: [`vcp_${alnum(24)}`],
}

test("every rule that looks at text has an example", () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(RULES.map(nameOf).sort())
})

describe.each(RULES.map((rule) => [nameOf(rule), rule] as const))("what the rule %s", (name, rule) => {
  test.each((EXAMPLES[name] ?? []).map((example, at) => [at + 1, example] as const))(
    "reports is removed (%d)",
    (_, example) => {
      const text = `the server said:\n${example}\nand went on`
      expect(reportedBy(rule, text)).not.toEqual([])
      expect(left(text)).toEqual([])
      expect(redact(text)).toContain("[redacted]")
    },
  )
})

describe("secretlint finds nothing after redaction in", () => {
  test.each(plantsOf(7).map((plant) => [plant.kind, plant.text]))("%s", (_, text) => {
    expect(left(text)).toEqual([])
  })
})
