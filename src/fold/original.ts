// The original of a fold as text. In that of a step nothing is escaped, so that an edit's arguments can be copied as they are,
// and nothing is lost: every text of more than one line is announced with the number of its lines.
//
//   said in 1 line:
//   The percentage is not divided by 100.
//
//   called edit
//   filePath: src/price.ts
//   oldString, 2 lines:
//     return price
//       * percent
//   newString:   return (price * percent) / 100
//   replaceAll: false
//   returned 1 line:
//   Edit applied successfully.
//
// After `name: ` comes a value in JSON, or a string verbatim unless it could be read as JSON. Values inside objects and lists
// are named by their path, such as `edits[0].oldString`.

import type { Message, ToolPart } from "../session/conversation.ts"
import { jsonOf, parseJson } from "../system/values.ts"
import { plural } from "../text/format.ts"
import { line } from "../text/sanitize.ts"
import type { Fold } from "./fold.ts"
import { lineCount } from "./pages.ts"

/** The call whose output is folded, or all calls of a folded step. */
export function callsIn({ parts }: Message, { kind, partID }: Pick<Fold, "kind" | "partID">): ToolPart[] {
  return parts.filter((part): part is ToolPart => part.type === "tool" && (kind === "step" || part.id === partID))
}

/** What the agent wrote and each call with its arguments and its result, in order. Reasoning is not part of it. */
export function stepText({ parts }: Message): string {
  const pieces = parts.flatMap((part) => {
    if (part.type === "text") return part.ignored || part.text === "" ? [] : [textBlock("said in", part.text)]
    return part.type === "tool" ? [callText(part)] : []
  })
  return pieces.join("\n\n")
}

export function callText({ tool, input, output, status, attached = [] }: ToolPart): string {
  const called = `called ${/^[\w.:/-]+$/.test(tool) ? tool : JSON.stringify(tool)}`
  // the files themselves go with the answer, in this order
  const files = attached.map(({ mime, filename = "" }) => `returned a file: ${line(`${mime} ${filename}`)}`)
  const text = output === "" && files.length > 0 ? [] : [textBlock(RESULT_HEADS[status], output)]
  return [called, ...argumentLines(input), ...files, ...text].join("\n")
}

const UNFINISHED = "has not finished, so far"
const RESULT_HEADS = { completed: "returned", error: "failed with", pending: UNFINISHED, running: UNFINISHED }

function textBlock(head: string, text: string): string {
  return text === "" ? `${head} nothing` : `${head} ${plural(lineCount(text), "line")}:\n${text}`
}

/** Deeper values are written as JSON. */
const MAX_DEPTH = 8

function argumentLines(value: object, path = "", depth = 0): string[] {
  return Object.entries(value).flatMap(([key, one]): string[] => {
    const name = path + pathPart(key, Array.isArray(value), path === "")
    if (typeof one === "string") return [stringLine(name, one)]
    const isNested = typeof one === "object" && one !== null && Object.keys(one).length > 0
    if (isNested && depth < MAX_DEPTH) return argumentLines(one, name, depth + 1)
    return [`${name}: ${one === undefined ? "null" : (jsonOf(one) ?? '"(not readable)"')}`]
  })
}

/** One part of a path: `.key`, `[0]`, or `["any other key"]`. */
function pathPart(key: string, isList: boolean, isFirst: boolean): string {
  if (isList) return `[${key}]`
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `[${JSON.stringify(key)}]`
  return isFirst ? key : `.${key}`
}

/** Longer strings are not parsed: they always go on lines of their own. */
const MAX_TRIED_CHARS = 1000

function stringLine(name: string, text: string): string {
  if (text === "") return `${name}: ""`
  const isPlain = !text.includes("\n") && text.length <= MAX_TRIED_CHARS && parseJson(text) === undefined
  return isPlain ? `${name}: ${text}` : `${name}, ${plural(lineCount(text), "line")}:\n${text}`
}
