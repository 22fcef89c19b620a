// The grammar of what the plugin writes into a request, line by line, as docs/hud.md defines it. Strict: anything unknown is a
// fault. Each check returns what is wrong, or undefined.

/** Control characters, invisible characters, line separators, lone surrogates and noncharacters. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}\ufff0-\uffff]/u
/** Code points that open a tag or a turn, independent of the rules in `src/text/sanitize.ts`. */
const OPENING = [
  /<\p{M}*[\p{L}/!?|\uff5c]/u,
  /<\s*\/|[<\uff1c\ufe64]\s*\/?\s*hud/i,
  /<\s*(?:system|user|assistant|human)\b/i,
  /[\uff1c\ufe64\u2329\u27e8\u3008\u276c\u276e\u2770\u300a\u27ea\u226a]\s*[\uff0f/]/,
  /(?:[&\uff06](?:amp;)*(?:lt|#0*60|#x0*3c);?|%(?:25)*3c|\\(?:u003c|x3c|u\{3c\}))\s*\/?\s*hud/i,
  /\[\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]|\[\||\]~!?b[[\]]/,
]

const NUMBER = String.raw`\d+`
const AMOUNT = String.raw`\d+(?:\.\d)?[kM]?`
/** A path as it is, or in quotes. */
const PATH = String.raw`(?:(?:[A-Z]:)?[^\s"'\x60,;:{}]+|"[^"]*")(?: \d+x)?`
const FOLDER = String.raw`(?:[A-Z]:)?[^\s"'\x60,;:{}]*/\{${PATH}(?:, ${PATH})+\}`
const GROUP = "(?:edited|changed on disk since read|read|deleted)"
const PATHS = `${GROUP}: (?:${FOLDER}|${PATH})(?:, (?:${FOLDER}|${PATH}))*`
const FAILURE = String.raw`\x60[^\x60]*\x60 ?(?: at call \d+| since call \d+, \d+ times):[^\x60]*`
const REPEAT = String.raw`(?:(?!;(?: |$)).)* \d+x`

const LINES: readonly RegExp[] = [
  String.raw`context (?:about )?${AMOUNT}(?: of ${AMOUNT} \(\d+%\))?(?:, compacted (?:once|\d+ times))?`,
  `task "[^"]*"(?:, then "[^"]*")?`,
  `todo ${NUMBER} of ${NUMBER} done(?:, (?:now|next): .+)?`,
  `failing ${FAILURE}(?:; ${FAILURE})*`,
  String.raw`no longer failing \x60[^\x60]*\x60(?:, \x60[^\x60]*\x60)*`,
  String.raw`files ${PATHS}(?:; ${PATHS})*(?:, \d+ more)?`,
  `same result again ${REPEAT}(?:; ${REPEAT})*`,
  String.raw`folded (?:\d+ steps?|(?:\d+ steps?, )?\d+ outputs?), ${AMOUNT} tokens, see hud_recall`,
  `waiting (?:(?!;(?: |$)).)*(?: running|permission for .*)(?:; .*)*`,
].map((line) => new RegExp(`^${line}$`, "u"))
const HEAD = /^hudfold status, call \d+(?:, changes since call \d+)?$/

/** What code may not open either: tags of the host and of this plugin, and turns. */
const OPENING_IN_CODE = [
  /<\s*\/?\s*hud/i,
  /<\s*\/?\s*(?:system|user|assistant|human)\b/,
  /<\|\p{L}|\[\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]|\[\||\]~!?b[[\]]/u,
]

/** What is wrong with one line of the plugin. */
export function faultOfLine(line: string, openings: readonly RegExp[] = OPENING): string | undefined {
  if (!line.isWellFormed()) return "it has half a character"
  if (line === "" || line !== line.trim()) return "it begins or ends with white space, or is empty"
  const unseen = UNSEEN.exec(line)?.[0]
  if (unseen !== undefined) return `it holds U+${unseen.codePointAt(0)?.toString(16)}`
  if (/\p{M}{5}/u.test(line)) return "it piles up marks"
  const opening = openings.find((shape) => shape.test(line))
  return opening && `${JSON.stringify(opening.exec(line)?.[0])} in it opens something`
}

/** What is wrong with a HUD. */
export function faultOfHud(text: string): string | undefined {
  const lines = text.split("\n")
  if (lines[0] !== "<hud>" || lines.at(-1) !== "</hud>") return "it is not between its tags"
  if (text.split("<hud>").length !== 2 || text.split("</hud>").length !== 2) return "a tag is there twice"
  if (!HEAD.test(lines[1] ?? "")) return `its head is ${JSON.stringify(lines[1])}`
  const labels = new Set<string>()
  for (const line of lines.slice(2, -1)) {
    const fault = faultOfLine(line)
    if (fault !== undefined) return `${fault}: ${JSON.stringify(line)}`
    const shape = LINES.findIndex((one) => one.test(line))
    if (shape < 0) return `no line of a HUD: ${JSON.stringify(line)}`
    if (labels.has(String(shape))) return `a line of its kind is there already: ${JSON.stringify(line)}`
    labels.add(String(shape))
  }
  return
}

const READS_AS_FOLD = /\b(?:folded|recalled) r[0-9a-z]{7}\b/i

/** What is wrong with one line of a step's record, which begins with the step's number or is a list of names. */
export function faultOfRecordLine(text: string): string | undefined {
  const fault = faultOfLine(text)
  if (fault !== undefined) return `${fault}: ${JSON.stringify(text)}`
  if (/kept by hudfold as a record/i.test(text.slice(0, 60)) && !/^\d+ /.test(text))
    return `it reads as the head of a record: ${JSON.stringify(text)}`
  const other = READS_AS_FOLD.exec(text)?.[0]
  return other && `${JSON.stringify(other)} in it reads as a fold: ${JSON.stringify(text)}`
}

/** What is wrong with one line of an edit below a line of the record. */
export function faultOfCodeLine(text: string): string | undefined {
  if (!/^[-+=] ?/.test(text)) return `it has no sign: ${JSON.stringify(text)}`
  const fault = faultOfLine(text, OPENING_IN_CODE)
  if (fault !== undefined) return `${fault}: ${JSON.stringify(text)}`
  const other = READS_AS_FOLD.exec(text)?.[0]
  return other && `${JSON.stringify(other)} in it reads as a fold: ${JSON.stringify(text)}`
}

/** What is wrong with a digest line. */
export function faultOfFold(text: string, id: string): string | undefined {
  const fault = faultOfLine(text)
  if (fault !== undefined) return `${fault}: ${JSON.stringify(text)}`
  if (!text.startsWith(`folded ${id} · `)) return `it does not begin as the fold ${id}: ${JSON.stringify(text)}`
  if (!/^folded r[0-9a-z]{7} · [^·]* · /u.test(text)) return `its tool is not set apart: ${JSON.stringify(text)}`
  const other = READS_AS_FOLD.exec(text.slice(`folded ${id}`.length))?.[0]
  return other && `${JSON.stringify(other)} in it reads as another fold: ${JSON.stringify(text)}`
}
