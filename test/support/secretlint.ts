// secretlint's recommended rules, run over a text: what `redact` has to find as well.

import { rules } from "@secretlint/secretlint-rule-preset-recommend"

/** As much of @secretlint/types as is used. */
export type Rule = {
  meta: { id: string }
  create(context: object, options: object): { file(source: object): unknown }
}

export const nameOf = ({ meta }: Rule) => meta.id.replace("@secretlint/secretlint-rule-", "")

/** Without the one that a comment in the text switches the others off with, and the one that looks at key files only. */
export const RULES = (rules as readonly Rule[]).filter((rule) => !["filter-comments", "gcp"].includes(nameOf(rule)))

/** What the rule reports in the text. */
export function reportedBy(rule: Rule, content: string): string[] {
  const found: string[] = []
  const context = {
    report: ({ range }: { range: [number, number] }) => found.push(content.slice(...range)),
    ignore() {},
    createTranslator: () => (messageId: string) => ({ message: "", messageId }),
    sharedOptions: {},
  }
  rule.create(context, {}).file({ content, filePath: "a.txt", ext: ".txt", contentType: "text", hasBOM: false })
  return found
}
