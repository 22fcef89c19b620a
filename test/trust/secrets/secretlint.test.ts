// secretlint itself, before and after: every rule of its preset that looks at text, those included whose findings `redact`
// makes by itself, has something to report of what it is for, and nothing of what is left.

import { describe, expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { rules } from "@secretlint/secretlint-rule-preset-recommend"
import { redact } from "../../../src/text/redact/redact.ts"
import { drawer, plantsOf } from "./planted.ts"

type Rule = {
  meta: { id: string }
  create(context: object, options: object): { file(source: object): unknown }
}

const nameOf = ({ meta }: Rule) => meta.id.replace("@secretlint/secretlint-rule-", "")
/** Not one that switches the others off by a comment in the text, nor one that looks at key files alone. */
const RULES = (rules as readonly Rule[]).filter((rule) => !["filter-comments", "gcp"].includes(nameOf(rule)))

/** What the rule reports of the text. */
function reported(rule: Rule, content: string): string[] {
  const found: string[] = []
  const context = {
    report: ({ range }: { range: [number, number] }) => found.push(content.slice(...range)),
    createTranslator: () => (messageId: string) => ({ message: "", messageId }),
  }
  rule.create(context, {}).file({ content, filePath: "a.txt", ext: ".txt", contentType: "text", hasBOM: false })
  return found
}

const left = (text: string) =>
  RULES.flatMap((rule) => reported(rule, redact(text)).map((found) => `${nameOf(rule)}: ${found}`))
    // an address without its password is one all the same
    .filter((finding) => !finding.includes("[redacted]"))

const draw = drawer(11)
const CASES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
const alnum = (length: number) => draw.of(`${CASES}0123456789`, length)
const hex = (length: number) => draw.of("0123456789abcdef", length)
const json = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64")
// the rule looks into the block, and takes what is no key for an example
const key = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({ type: "pkcs1", format: "pem" })

/** What each rule is for, one a format. */
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
    "reports is taken out (%d)",
    (_, example) => {
      const text = `the server said:\n${example}\nand went on`
      expect(reported(rule, text)).not.toEqual([])
      expect(left(text)).toEqual([])
      expect(redact(text)).toContain("[redacted]")
    },
  )
})

describe("secretlint finds nothing more in", () => {
  test.each(plantsOf(7).map((plant) => [plant.kind, plant.text]))("%s", (_, text) => {
    expect(left(text)).toEqual([])
  })
})
