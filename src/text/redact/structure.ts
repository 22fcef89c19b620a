// Secrets that their place in a document gives away: below a name in JSON, YAML, HCL and XML, in a column whose header
// names them, in a Kubernetes Secret, or beside a mark such as `"sensitive": true`. No document is parsed: what tools
// print is often cut off, or several documents in one.

import { isChosen, isPhrase } from "./chosen.ts"
import { isSecretName, NAMES, nameAround } from "./names.ts"
import {
  charsBefore,
  type Find,
  isWordlike,
  type ReportSpan,
  reportGroups,
  skip,
  valueAt,
  valueReporter,
} from "./value.ts"

export const findInStructure: Find = (text, report) => {
  const take = valueReporter(text, report)
  NAMES.lastIndex = 0
  const finders = NAMES.test(text) ? [...MARKED, ...NAMED] : MARKED
  for (const find of finders) find(text, take)
}

/** What finds values beside marks, and what looks for the name of a secret. */
const MARKED: readonly Find[] = [findManifests, findMarked, (text, take) => reportGroups(text, NUMBERS, take)]
const NAMED: readonly Find[] = [findNested, findTuples, findMappings, findColumns]

/** Longest block that is searched for the value of its name, or for its mark. */
const MAX_BLOCK_CHARS = 4_000

/** The names that hold the value of the block around them. */
const VALUE_NAME =
  /["']?\b(?:value|default|content|current|plain(?:text)?|raw|result|data|stringValue|string_value)["']?[ \t]*[:=]>?[ \t]*(?=["'])/gi
/** The name of a block, or of a folded or literal scalar of YAML. */
const NESTING = new RegExp(
  String.raw`(?:${NAMES.source})[\w.\u00c0-\ufaff-]{0,60}["']?(?:\]?[ \t]*(?:[:=]>?[ \t]*)?\{|[ \t]*:[ \t]*[|>][-+]?\d?[ \t]*(?:#[^\n]*)?(\n|\\ | (?=\S)))`,
  "gi",
)
/** `<Password>`, with the value in a nested element. */
const ELEMENT =
  /<(?:\w+:)?([\w.\u00c0-\ufaff-]{2,60})(?:[ \t][^<>\n]{0,100})?>\s{0,80}<(?:\w+:)?(?:value|string|data|text|secret|plaintext)(?:[ \t][^<>\n]{0,100})?>([^<>]{1,400})(?:<|$)/dgi

/**
 * `"db_password": {…, "value": "…"}`, `variable "db_password" {…, default = "…"}`, scalars of YAML, whose lines are deeper than
 * the name's, and `<Password><Value>…`.
 */
function findNested(text: string, take: ReportSpan): void {
  for (const { index, 0: opening, 1: ending } of text.matchAll(NESTING))
    if (isSecretAt(text, index)) {
      const from = index + opening.length
      if (ending === undefined) takeValues(text, from, blockEnd(text, from), take)
      else if (ending === "\n") takeDeeper(text, from, depthAt(text, index), take)
      else takeTrimmed(text, from, from + text.slice(from, from + MAX_BLOCK_CHARS).search(/\s|$/), take)
    }
  for (const { 1: name = "", indices } of text.matchAll(ELEMENT))
    if (isSecretName(name)) takeTrimmed(text, ...(indices?.[2] ?? [0, 0]), take)
}

/** Takes the quoted values of the generic names in a part of the text. */
function takeValues(text: string, from: number, to: number, take: ReportSpan): void {
  // a match may end beyond `to`
  for (const { index, 0: name } of text.slice(from, to + 100).matchAll(VALUE_NAME)) {
    if (from + index >= to) return
    const value = valueAt(text, from + index + name.length)
    // a type, a label or a number of lines
    if (value && value.to - value.from >= 3) take(value.from, value.to)
  }
}

/** Whether the name around this position is that of a secret. */
function isSecretAt(text: string, at: number): boolean {
  const { from, to } = nameAround(text, at, at + 1, 0)
  return isSecretName(text.slice(from, to))
}

/**
 * Where the bracket closes that is open at `from`, or with `step` -1, where it was opened; at most `MAX_BLOCK_CHARS` away.
 * Brackets within strings count, which only shortens a block.
 */
function blockEnd(text: string, from: number, step: 1 | -1 = 1): number {
  const [opening, closing] = step > 0 ? "{}" : "}{"
  let at = from
  for (let depth = 1; at >= 0 && at < text.length && Math.abs(at - from) < MAX_BLOCK_CHARS; at += step) {
    if (text[at] === opening) depth++
    else if (text[at] === closing && --depth === 0) return at
  }
  return at
}

const SENSITIVE =
  /["']?\bsensitive["']?[ \t]*[:=][ \t]*true\b|"(?:isSecret|secret|NoEcho)":[ \t]*true\b|"type":[ \t]*"secret"|"(?:httpOnly|masked)":[ \t]*(?:true|false)\b/g
/** A string that a bracket in it seems to end is taken whole. */
const MAX_STRING_CHARS = 8_002
const STRING = /"((?:[^"\\\n]|\\.){3,4000})"/g
const VALUE = /"value"[ \t]*:[ \t]*/i
/** The attributes that a state calls sensitive. Looks back from every quote, which is slow. */
const SENSITIVE_NAME =
  /"type"\s*:\s*"get_attr",\s*"value"\s*:\s*"([\w-]{1,80})"|(?<="sensitive_values"\s*:\s*\{[^{}]{0,400})"([\w-]{1,80})"\s*:\s*true/g

/** Values beside a mark that says they are secret: Terraform's, Azure's, AWS's and Docker's. */
function findMarked(text: string, take: ReportSpan): void {
  for (const { index } of text.matchAll(SENSITIVE)) {
    const from = blockEnd(text, index - 1, -1) + 1
    const to = blockEnd(text, from)
    const value = VALUE.exec(text.slice(from, to + 100))
    if (value && from + value.index < to) takeStrings(text, from + value.index + value[0].length, to, take)
    else takeValues(text, from, to, take)
  }
  const attributes = /"(?:get_attr|sensitive_values)"/.test(text) ? [...text.matchAll(SENSITIVE_NAME)] : []
  const names = new Set(attributes.map(([, attribute, value = ""]) => attribute ?? value))
  if (text.includes("random_password")) for (const name of ["result", "bcrypt_hash"]) names.add(name)
  if (/vault\.azure\.net|SecureString/.test(text)) for (const name of ["value", "Value"]) names.add(name)
  if (text.includes('"auths"')) names.add("auth")
  for (const name of names)
    for (const { index, 0: found } of text.matchAll(new RegExp(`"${name}"\\s*:\\s*(?=")`, "g")))
      takeStrings(text, index + found.length, text.length, take)
  if (/SecureString|Detector Type/.test(text))
    reportGroups(text, /(?:\bValue(?::|[ \t]*\|)[ \t]+|^[ \t]*Raw(?: result)?: )([^\s|]{3,4000})/dgm, take)
}

/** Takes the string at `from`, or all strings of the object or list there. */
function takeStrings(text: string, from: number, to: number, take: ReportSpan): void {
  if (text[from] === '"') {
    const value = valueAt(text, from)
    if (value) take(value.from, value.to)
    return
  }
  const end = /[{[]/.test(text[from] ?? "") ? Math.min(to, blockEnd(text, from + 1)) : from
  for (const { index, 0: string } of text.slice(from, end + MAX_STRING_CHARS).matchAll(STRING)) {
    if (from + index >= end) return
    const after = from + index + string.length
    if (text[after] !== ":") take(from + index + 1, after - 1)
  }
}

/** The numbers of a private key, as OpenSSL prints them. */
const NUMBERS =
  /\b(?:priv|privateExponent|prime\d|exponent\d|coefficient):((?:[\s\\]{0,40}(?:[0-9a-f]{2}:){2,}[0-9a-f]{0,2}(?![:\w]))+)/dg

/** The columns of a statement of SQL, and what comes before its rows. */
const COLUMNS =
  /\(((?:[\s"'`]{0,4}[\w.\u00c0-\ufaff]{1,60}[\s"'`]{0,4},){0,60}[\s"'`]{0,4}[\w.\u00c0-\ufaff]{1,60}[\s"'`]{0,4})\)\s{0,20}(?:VALUES|FROM[ \t]+stdin;?)/gi
/** A piece of a row: a string, which may be cut off at the end, a word, or a sign. */
const PIECE =
  /'((?:[^'\\\n]|''|\\.){0,4000})(?:'|$)|"((?:[^"\\\n]|\\.){0,4000})(?:"|$)|([^\s,()'"]{1,400})(?![('"])|[^\s,()'"]{1,400}|\s+|[,()]/dy

/** `INSERT INTO t (a, password) VALUES (…), (…)` and `COPY t (a, password) FROM stdin`. */
function findTuples(text: string, take: ReportSpan): void {
  let done = 0
  for (const { index, 0: head, 1: names = "" } of text.matchAll(COLUMNS)) {
    const columns = names.split(",").map((name) => isSecretName(name.replace(/[\s"'`]/g, "")))
    if (index < done || !columns.includes(true)) continue
    const at = index + head.length
    done = /stdin;?$/i.test(head)
      ? takeRows(text, endOfLine(text, at) + 1, { separator: /\t/, columns, isNamed: false, holdsWords: false }, take)
      : takeTuples(text, at, columns, take)
  }
}

/** Takes the secret cells of the tuples from `from` on; returns where they end. A cell may be a call with arguments. */
function takeTuples(text: string, from: number, isSecret: readonly boolean[], take: ReportSpan): number {
  let at = from
  for (let tuples = 0; tuples < MAX_ROWS; tuples++) {
    at = skip(/[\s,]*/y, text, at)
    if (text[at] !== "(") return at
    at++
    for (let column = 0, depth = 1; depth > 0; ) {
      PIECE.lastIndex = at
      const piece = PIECE.exec(text)
      if (!piece) return at
      at += piece[0].length
      if (piece[0] === "(") depth++
      else if (piece[0] === ")") depth--
      else if (piece[0] === "," && depth === 1) column++
      else if (isSecret[column]) {
        const cell = piece.indices?.slice(1).find((group) => group !== undefined)
        if (cell) take(...cell)
      }
    }
  }
  return at
}

const INDENT = /[ \t]*(?:- )?/y
/** The value of the mapping of YAML around it. */
const MAPPED = /\n([ \t]+)(?:[Dd]efault|[Vv]alue|content):[ \t]+["']?(?!#)([^\s"']{4,400})/dg

/** As `findNested`, for YAML: `db_password:`, and `default: …` in one of the deeper lines below it. */
function findMappings(text: string, take: ReportSpan): void {
  for (const { index, indices, 1: indent = "", 2: value = "" } of text.matchAll(MAPPED)) {
    const above = charsBefore(text, index, MAX_BLOCK_CHARS).split("\n")
    const parent = above.findLast((line) => line.search(/\S/) < indent.length) ?? ""
    const name = /^\s*["']?([\w.-]{2,80})["']?:\s*$/.exec(parent)?.[1]
    if (name !== undefined && isSecretName(name) && !isPlainWord(value)) take(...(indices?.[2] ?? [0, 0]))
  }
}

/** Takes the lines from `from` on that are deeper than `depth`; returns where they end. */
function takeDeeper(text: string, from: number, depth: number, take: ReportSpan): number {
  for (let at = from; at < text.length; ) {
    const end = endOfLine(text, at)
    if (end > at && text.slice(at, end).trim() !== "") {
      if (skip(INDENT, text, at) - at <= depth) return at
      takeTrimmed(text, at, end, take)
    }
    at = end + 1
  }
  return text.length
}

/** The indentation of the line at `at`. */
function depthAt(text: string, at: number): number {
  const from = text.lastIndexOf("\n", at - 1) + 1
  return /^[ \t]*/.exec(text.slice(from, at))?.[0].length ?? 0
}

const KIND = /["']?kind["']?:\s*["']?Secret\b/g
const DATA = /(?<![\w.-])["']?(?:data|stringData)["']?:[ \t]*/g
/** `name: value` in a manifest; the value may be a scalar of several lines. */
const ENTRY = /^([ \t]*)["']?[\w.-]{1,200}["']?:[ \t]*(.*)$/
/** What may follow the data when a manifest has lost its line breaks. */
const TOP_NAME = /["']?\b(?:apiVersion|kind|metadata|type|immutable)["']?:/

/** The values of Kubernetes Secrets, whose names may be anything. */
function findManifests(text: string, take: ReportSpan): void {
  let done = 0
  for (const { index } of text.matchAll(KIND)) {
    if (index < done) continue
    // a list has several; a stream separates them
    const from = Math.max(text.lastIndexOf("\n---", index), 0)
    const next = text.indexOf("\n---", index)
    const to = next < 0 ? text.length : next
    done = to
    for (const hit of text.slice(from, to).matchAll(DATA)) {
      const name = from + hit.index
      const at = name + hit[0].length
      if (text[at] === "{") {
        const end = Math.min(to, blockEnd(text, at + 1))
        takeStrings(text, at, end, take)
      } else if (text[at] === "\n" || text[at] === "\r")
        takeEntries(text, endOfLine(text, at) + 1, depthAt(text, name), take)
      else {
        const rest = text.slice(at, Math.min(to, endOfLine(text, at)))
        const end = rest.search(TOP_NAME)
        const entry = /^\\?\s*[\w.-]{1,200}:\s+/.exec(rest)
        const begin = at + (entry?.[0].length ?? 0)
        takeTrimmed(text, begin, at + (end < 0 ? rest.length : end), take)
      }
    }
  }
}

function takeEntries(text: string, from: number, depth: number, take: ReportSpan): void {
  for (let at = from; at < text.length; ) {
    const end = endOfLine(text, at)
    const row = text.slice(at, end)
    if (row.trim() !== "" && row.search(/\S/) <= depth) return
    at = end + 1
    const [, indent = "", rest] = ENTRY.exec(row) ?? []
    if (rest === undefined) continue
    const written = rest.trim()
    const value = valueAt(text, end - rest.length)
    if (/^(?:[|>][-+]?\d?)?$/.test(written)) at = takeDeeper(text, at, indent.length, take)
    else if (value?.quoted) take(value.from, value.to)
    else if (written.length >= 3) take(end - rest.length, end - rest.length + written.length)
  }
}

const CELL_NAME = /^(?!--?\w|and )[\p{L}\p{N}_ .()-]{1,40}(?<!\.)$/u
const RULE = /^[-+|=\s:─-╿]*$/
/** What separates columns. A table of `psql` or Markdown has bars, one of other programs at least two blanks. */
const SEPARATORS: readonly RegExp[] = [/\|/, /│/, /\t/, /,/, /;/, / {2,}/]
const MAX_ROWS = 2_000
const MAX_ROW_CHARS = 2_000

/** In the header of a column of secrets, or of the values that the first column names. */
const HEADER_WORD = new RegExp(`${NAMES.source}|\\bvalue\\b`, "gi")

/** Tables and CSV: a column's header says that its values are secret, or that its first column names them. */
function findColumns(text: string, take: ReportSpan): void {
  HEADER_WORD.lastIndex = 0
  for (let hit = HEADER_WORD.exec(text); hit; hit = HEADER_WORD.exec(text)) {
    const from = text.lastIndexOf("\n", hit.index) + 1
    const end = endOfLine(text, hit.index)
    const table = end - from < MAX_ROW_CHARS ? headerOf(text.slice(from, end).trimEnd()) : undefined
    // below such a heading, any name is that of a secret
    if (table && /(?:^|\n)=+ (?:Data|Secret Data) =+\s*$/.test(charsBefore(text, from, 40))) table.isNamed = false
    HEADER_WORD.lastIndex = table ? takeRows(text, end + 1, table, take) : end
  }
}

/** Takes the secret cells of the rows from `from` on; returns where they end. */
function takeRows(text: string, from: number, table: Table, take: ReportSpan): number {
  const { separator, columns, isNamed, holdsWords } = table
  let at = from
  for (let rows = 0; at < text.length && rows < MAX_ROWS; ) {
    const end = endOfLine(text, at)
    const row = end - at < MAX_ROW_CHARS ? text.slice(at, end).trimEnd() : ""
    if (row === "" || !RULE.test(row)) {
      const spans = row.trim() === "" ? [] : cellsOf(row, separator)
      // a number in the first cell was removed as the line's number
      const isLost = separator.source === "\\t" && spans.length === columns.length - 1
      // the number of a row, which has no header
      const isNumbered = spans.length === columns.length + 1 && /^[ \t]*\d+[ \t]/.test(row)
      const lost = isLost ? 1 : isNumbered ? -1 : 0
      // a row of CSV may have fewer cells, or a comma inside one; the last cell of a row with bars may be empty
      const isUneven = spans.length > 1 && (separator.source === "," || /[|│]$/.test(row))
      if (spans.length + lost !== columns.length && !isUneven) return at
      rows++
      const isSecret = !isNamed || isSecretName(row.slice(...(spans[0] ?? [0, 0])))
      for (const [begin, after] of isSecret ? spans.filter((_, column) => columns[column + lost]) : []) {
        const cell = row.slice(begin, after)
        if (cell.length >= 3 && (holdsWords || !isPlainWord(cell))) take(at + begin, at + after)
      }
    }
    at = end + 1
  }
  return Math.min(at, text.length)
}

const JSON_BEFORE = /^(?:[^\n]{0,200}"[\w-]{1,40}"[ \t]*:[ \t]*|[^"]{0,80})"(?=[^"]*$)/

/**
 * `columns`: which of them are secret. `isNamed`: only in rows whose first cell is the name of a secret. `holdsWords`: plain
 * words are secrets too.
 */
type Table = { separator: RegExp; columns: boolean[]; isNamed: boolean; holdsWords: boolean }

function isPlainWord(value: string): boolean {
  const isSecret = isChosen(value) || isPhrase(value.slice(1, -1))
  return /^[`*]{0,2}[\p{L}$_][\p{L}_.-]*[`*]{0,2}$/u.test(value) && isWordlike(value) && !isSecret
}

function headerOf(line: string): Table | undefined {
  // the first line of a string of JSON
  const row = line.replace(JSON_BEFORE, (before) => " ".repeat(before.length))
  if (row.length < 8) return
  for (const separator of SEPARATORS) {
    if (!separator.test(row)) continue
    const spans = cellsOf(row, separator)
    const cells = spans.map(([from, to]) => row.slice(from, to))
    const isHeader = cells.length > 1 && cells.every((cell) => CELL_NAME.test(cell)) && !/^[-*#]\s/.test(cells[0] ?? "")
    if (!isHeader) continue
    if (/^(?:key|name|field|variable)$/i.test(cells[0] ?? "") && /^value$/i.test(cells[1] ?? ""))
      return { separator, columns: cells.map((_, at) => at === 1), isNamed: true, holdsWords: true }
    // in a table of results, `pass` is a number
    const hasUsers = cells.some((cell) => /^(?:user(?:_?name)?|login|e?-?mail)$/i.test(cell))
    const columns = cells.map((cell) => isSecretName(cell) || (hasUsers && /^pass$/i.test(cell)))
    // in a table of words, such as one of a manual, a token is a word as well; fields of a struct look like a table
    if (columns.includes(true)) return { separator, columns, isNamed: false, holdsWords: separator.source === "," }
  }
  return
}

/** The positions of a row's cells, without the blanks and quotes around them and without empty cells at the row's ends. */
function cellsOf(row: string, separator: RegExp): (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = []
  const text = row.trimEnd()
  const pattern = new RegExp(`"(?:[^"]|"")*"|${separator.source}`, "g")
  const add = (from: number, to: number) => {
    const cell = text.slice(from, to)
    const begin = from + cell.length - cell.replace(/^[\s"']+/, "").length
    spans.push([begin, Math.max(begin, from + cell.replace(/[\s"']+$/, "").length)])
  }
  let from = row.length - row.trimStart().length
  for (const found of text.matchAll(pattern)) {
    if (found[0].startsWith('"') || found.index < from) continue
    add(from, found.index)
    from = found.index + found[0].length
  }
  add(from, text.length)
  // not by its source, which Bun escapes
  if (!separator.test("|│")) return spans
  return spans.filter(([begin, end], at) => begin < end || (at > 0 && at < spans.length - 1))
}

function takeTrimmed(text: string, from: number, to: number, take: ReportSpan): void {
  const written = text.slice(from, to).trimEnd()
  if (written !== "") take(from + written.search(/\S/), from + written.length)
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at)
  return end < 0 ? text.length : end
}
