// The rules of @secretlint/secretlint-rule-preset-recommend, which knows the token formats that issuers have published.
// Decision 026 says which of its rules are left out, and why.

import { rules } from "@secretlint/secretlint-rule-preset-recommend"
import type { Find } from "./span.ts"

/** As much of @secretlint/types as is used; the package that has them is no dependency of the preset. */
type Rule = {
  meta: { id: string }
  create(context: Context, options: object): { file?(source: Source): unknown }
}
type Source = { content: string; filePath: string; ext: string; contentType: "text"; hasBOM: boolean }
type Context = {
  report(found: { range: readonly [number, number] }): void
  ignore(): void
  createTranslator(): (id: string) => { message: string; messageId: string }
  sharedOptions: object
}

/**
 * What each rule's findings begin with, so that a text with none of it is not looked at by any rule. Not here are: aws and
 * the npm configuration, whose ranges begin at the name and end within the value; basicauth and
 * database-connection-string, whose ranges are the whole address with the host in it; gcp, which looks at files; and
 * filter-comments, since no text may switch this off. The other finders have their cases.
 */
const RULES: Readonly<Record<string, RegExp>> = {
  "1password": /ops_/,
  anthropic: /sk-ant/,
  databricks: /dapi/,
  docker: /dckr_/,
  figma: /figd_/,
  github: /gh[pousr]_|github_pat_/,
  gitlab: /glpat-/,
  grafana: /gl(?:c|sa)_/,
  groq: /gsk_/,
  "hashicorp-vault": /hv[sbr]\./,
  huggingface: /hf_/,
  linear: /lin_api_/,
  notion: /ntn_/,
  npm: /npm_/,
  openai: /T3BlbkFJ/,
  privatekey: /PRIVATE KEY/,
  sendgrid: /SG\./,
  shopify: /shp(?:pa|ca|at|ss)_/,
  slack: /xox[bpaor]-|xapp-|hooks\.slack\.com/,
  vercel: /vc[piark]_/,
}
const TELLING = new RegExp(
  Object.values(RULES)
    .map(({ source }) => source)
    .join("|"),
)
/** What a token goes on with: of a longer one than the rule knows no end is left. */
const REST = /[\w=-]*/y

const used = (rules as readonly Rule[]).flatMap((rule) => {
  const telling = RULES[rule.meta.id.replace("@secretlint/secretlint-rule-", "")]
  return telling ? [{ rule, telling }] : []
})

export const findPublished: Find = (text, report) => {
  if (TELLING.test(text)) findByAll(text, report, (telling) => telling.test(text))
}

/** The same with every rule looking at the text that `isAsked` names by what its findings begin with. */
export function findByAll(text: string, report: Parameters<Find>[1], isAsked: (telling: RegExp) => boolean): void {
  const context: Context = {
    report({ range: [from, to] }) {
      REST.lastIndex = to
      report(from, to + (REST.exec(text)?.[0].length ?? 0))
    },
    ignore() {},
    createTranslator: () => (messageId) => ({ message: "", messageId }),
    sharedOptions: {},
  }
  const source: Source = { content: text, filePath: "text.txt", ext: ".txt", contentType: "text", hasBOM: false }
  for (const { rule, telling } of used) if (isAsked(telling)) rule.create(context, {}).file?.(source)
}
