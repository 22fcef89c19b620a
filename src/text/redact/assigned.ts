// Values assigned to a name that says they are secret, in the syntax of shells, configuration, code, markup, URL queries
// and prose.

import { isChosen, isNumberedPhrase, isPhrase, SECRET_WORD, SENTENCE_WORD } from "./chosen.ts"
import { FOREIGN_NAMES, NAMES, nameAround, type Secrecy, secrecyOf } from "./names.ts"
import {
  ACCOUNT,
  charsBefore,
  type Find,
  isCode,
  isJumbled,
  isPlaceholder,
  isRandom,
  isWordlike,
  REDACTED,
  type ReportSpan,
  skip,
  UUID,
  type Value,
  valueAt,
} from "./value.ts"

/**
 * The syntax that assigns a value to its name. tight: `NAME=value`; loose: `name: value`; call: `set("name", "value")`;
 * prose: `password is value`; inner: after an opening bracket or a line break.
 */
type Syntax = "tight" | "loose" | "flag" | "call" | "prose" | "markup" | "query" | "inner"

/** What ends a name: a quote, a bracket, an array's length, the accessors of a property of C#. */
const CLOSING = /(?:\*{1,2}|\\{0,8}["'`]?)\??!?(?:\]|\[\w{0,20}\]|[ \t]*\{[ \t]*get;[\w \t;]{0,40}\})?/y
const SIGN =
  /[ \t]{0,40}(?::[-=]|<-|(?<=[ \t])->(?=[ \t])|={1,3}>?|!==?|:{1,2}(?!\/\/)|：|\+=|\?\??=|\?\?|\|\|=?|[→➜➔⇒│]|\||[Aa]s[ \t]+\w{1,30}[ \t]*=)(?:\*{1,2})?[ \t]{0,80}(?:[<‹](?:b|strong|code|em|i)>|\\\r?\n[ \t]*|["'][ \t]+(?=["'][^\s"'])|0x[\da-f]{1,16}[ \t]+(?=")|!!(?:str|binary)[ \t]+|\[-(?=[^\s\]]{3,200}-\])|\{(?=[^\s{}"']*\d[^\s{}"']*\};)|\{\+(?=[^\s}]{3,200}\+\}))?/y
/** A type annotation between the name and its value. */
const TYPE =
  /(?:[A-Za-z_&'*[][\w<>&'*.[\]| ?]{0,40}?)[ \t]*=[ \t]*(?=(?:\w{1,30}\([ \t]*(?:(?:default|value|initial)[ \t]*=[ \t]*)?)?\w{0,2}\\{0,8}["'`])/y
/** An argument, an element, a numbered answer, what is used instead, or what is typed into a field. */
const CALL =
  /(?:[ \t]?[({]\s{0,40}|[ \t]*,[ \t]*(?:<<|with:[ \t]*)?|(?<=["'])\)[ \t]*,[ \t]*(?=["'])|\/i?\)\)?[ \t]*,[ \t]*|(?:["'`]|\/i?)?\)[ \t]*(?:\?:|\|\||\?\?|or\b|\{|\.(?:unwrap_or\w*|or\w*|getOrElse|fill|type|pressSequentially|send_?[kK]eys|setValue|to(?:Be|(?:Strict)?Equal))\(|\.value[ \t]*=)[ \t]*(?:\|\w*\|[ \t]*)?|(?:\s|\\ ){1,4}\d{1,3}\)[ \t]*)(?=["'`\\])/y
const PROSE =
  /(?:[ \t]+|[ \t]*\n[ \t]*(?=(?:there[ \t]+)?is[ \t])|(?<=[\u3040-\uffef])(?=[!-~]))(?:there[ \t]+)?(?:(?:--plaintext|ascii-text)[ \t]+)?(?:(?:(?:for|of|from|to|on|in|at|für|von|auf|de|du|del|da|do|di|van)(?:[ \t]+[\p{L}\d'.@-]{1,30}){1,5}?[ \t]+)?(?:(?:is|was)(?:[ \t]+now)?|war|=|to|with(?: value)?|as|ist|lautet|est|es|är|er|je|là|היא|هي|है|είναι|jest|è|é|su|на|[-–—]):?[ \t]+:?[ \t]*|\d[ \t]+)?(?=\S)/uy
/** In languages without blanks a value ends at such a letter or sign. */
const SENTENCE = /[\u3000-\uffef]/
/** The last word of a line, a string or a command, or of what precedes a flag. */
const LAST = /[^\s"'`]{4,400}(?=[ \t]*(?:$|["'`;&|]|[ \t]-{1,2}\w))/my
/** The next cell of a table, where it has blanks. */
const TABBED = /\t[^\t\n ]{1,100}(?: [^\t\n ]{1,100}){1,5}(?=\t|$)/my
/** A name as in configuration and code: `db_password`, `dbPassword`, `auth-pass`, `requirepass`; CODED: never in prose. */
const TECHNICAL = /[a-z\d][A-Z]|\w[_.-]\w|^_|^(?:require|master|auth|r[ow])\w/
const CODED = /[a-z\d][A-Z]|\w_\w|^_|^r[ow]\w/
/** Alternatives of a pattern that is searched for: `secret|token|api_key`. */
const ALTERNATIVES = /^[A-Za-z_.-]{2,40}(?:\\?\|[A-Za-z_.-]{2,40})+(?![\w|])/
/** A line of two cells, the first of which may be a name. */
const CELL_LINE = /^[ \t]*[\w.-]{2,80}[ \t]*[|│][ \t]*[^\s|│]{4,300}[ \t]*(?:\n|$)/
/** A key at the end of its line; the next line is its value. */
const BELOW =
  /["'`\])]{0,2}:?(?:[ \t]*\r?\n){1,2}(?:```\w{0,20}\n)?[ \t]*(?:(?:=>|\$\d+ =(?: 0x[\da-f]+)?|Out\[\d+\]:) )?(?=(?:\S{4,400}|(["'])[^"'\n]{4,400}\1)[ \t]*$)/my
/** What may stand before a name that is alone on its line, or behind a prompt. */
const HEADING =
  /(?:^|\n)[ \t]*(?:#{1,6} |[-*] |[\w.:()[\]@\\~/ -]{0,40}[>):]{1,3} )?(?:(?:\p{L}[\p{L}._]{0,20}[ [("']){0,3}["']?|\$[\w.()]{1,60}\.)$/u
/** "password for the elastic user:", with only the value after it or on the next line. */
const PROSE_WITH_COLON = /(?:[ \t]+[^\s:=\d]{1,40}){1,8}(?::|[ \t]=)[\s\\]{1,16}(?=\S+[ \t]*$)/my
/** The prompt that an expect script waits for; the answer it sends follows. */
const PROMPTED = /[:?]?[ \t*]{0,4}\\{0,8}["'/]\)?[;{\s\\]{1,40}(?:\w+\.)?send(?:line)?[ (]{1,4}(?:-- )?(?=\\{0,8}["'])/y
/** A bracket opens or a line ends before the value: `Some("`, `["`, `>-`, `<<EOT`. */
const INNER =
  /(?:(?:await[ \t]+)?(?:(?:\[\])?\w[\w.:<>!]{0,60}(?:\(\)\.\w{1,20})?)?[[({][ \t]*(?:(?:\{[ \t]*)?(?:type:[ \t]*\w{1,20},[ \t]*)?(?:default|value|initial|example)[ \t]*[:=][ \t]*)?(?=[\s\\"'`])|[|>][-+]?\d?(?=[\s\\])|(?:\$\(cat[ \t]+)?<[<‹][-~]?["']?\w{1,30}["']?(?=[\s\\]))?(?:[ \t\r]*(?:\n|\\ ){1,2}(?:```\w{0,20}(?:\n|\\ ))?[ \t>+-]*(?:\d{1,6}[:|→][ \t]*)?|[ \t]*)(?:-[ \t]+|string\(\d+\)[ \t]+)?|[[{](?=[^\s"'[\]{}]{4,200}[\]}])/y
/** The name is a value itself: `name: NAME, value: "…"`, `<add key="NAME" value="…">`, `<key>NAME</key><string>…`. */
const PAIR =
  /[\\"']{0,3}[\s,;&\\]{0,40}(?:\{[\s\\]{0,40})?(?:[\\"']{0,3}(?:type|sensitive|slotSetting)[\\"']{0,3}[ \t]*[:=][ \t]*[\\"']{0,3}\w{1,20}[\\"']{0,3}[\s,;\\]{1,40}){0,2}[\\"']{0,3}(?:\w{0,20}value|default|content)[\\"']{0,3}[ \t]*[:=][ \t]*|["']?(?:[ \t]+--?[\w-]{1,30}(?:[ =][^\s-]\S{0,80})?){0,3}?[ \t]+--?(?:value|secret-string)[ =]|[<‹]\/\w{1,20}>\s{0,40}(?:[<‹](?:string|value|stringProp|td|dd|code)(?:[ \t][^<>\n]{0,80})?>){1,2}|\\?"(?:[ \t][\w:-]{1,40}="[^"\n]{0,80}"){0,3}>(?:\s{0,40}<value>)?(?=(?:[^<‹\s]{1,200}|[^<‹\n]{1,100}\d)[<‹]\/(?:string|property|entry|param|setting|value|item))|"(?:\r?\n|(?:\\ ){1,2}){2}/iy
/** The name comes after its value: `<input value="…" name="NAME">`, `{"value": "…", "name": "NAME"}`. */
const VALUE_BEFORE =
  /(\b(?:(?:value|content)["']?[ \t]*[:=]|(?:set|save|store|add)\w{0,20}\()[ \t]*["'])([^"'\n]{3,400})["'](?:[\s,]{1,20}\w{1,20}=["'][\w-]{1,20}["']){0,2}(?:[\s,]{1,20}|\s{1,4}where\s{1,4})["']?(?:name|(?:for)?key|id)["']?[ \t]*[:=][ \t]*["']$/i
const MAX_BEFORE_CHARS = 520
/** What sets a variable to the word after its name: Docker's, fish's, csh's and Windows's. */
const SETTING = /(?:\b(?:ENV|setenv|setx|env:set|set(?:[ \t]-[gxUL]{1,4}){1,3})|--arg)[ \t]+$/
/** A command that stores the word after a path. */
const STORES = /\b(?:put|set|write|insert|add|store|update)\b[^\n;|&]{0,120}$/
/** The text of an element, which may be of several words. */
const CONTENT = /(?<=CDATA\[)[^\n]{1,400}?(?=\]\]>)|[^<>‹\n]{1,400}(?=[<‹]|\]\]>|$)|[^<‹\n]{1,400}(?=<\/|\]\]>)/my
const TAG_END = /(?:[ \t][^<>\n]{0,200})?>\s{0,40}(?:<!\[CDATA\[)?/y
/** A changed value, or the next element of a list: it is as secret as the one before. */
const NEXT =
  /\\{0,8}["'`]?[ \t]*(?:->|→)[ \t]*(?=\\{0,8}["'`])|\\{0,8}["'`],(?:\s|\\ ){0,40}(?=\\{0,8}["'`][^"'`\n]{4,400}["'`][ \t\r]*(?:[,\])]|\n|\\ ))/y
/** What joins two strings. */
const JOIN =
  /\\{0,8}["'](?:\s{0,40}(?:\+|\.{1,2}|\|\||<>|&(?:[ \t]+_)?)\s{0,40}|[ \t]*\\?\r?\n[ \t]*)(?=\\{0,8}["'][^"'\n]{1,100}["'])/y
const PLURAL = /[^s]s$/i
/** Elements of a list that are looked at. */
const MAX_NEXT = 50
const BLANK = /[ \t]+/y
const WORD = /^\p{L}+$/u
const GENERIC = /^[A-Z][A-Za-z]*<(?!\/|br\b|p\b|t[dr]\b|li\b|div\b|span\b)/
/** Words and a number of two digits or more, which a string in code seldom is. */
const NUMBERED = /^[A-Za-z][a-z]{2,}(?:[_.-][A-Za-z][a-z]{2,}){0,3}(?:[_.-]?\d{2,4}|@\d{2,6})$/
/** A word with dashes, underscores or a trailing number, as in identifiers and examples. */
const IDENTIFIER = /^[A-Za-z_$][A-Za-z_$-]*\d{0,2}$/

/** An id of OpenCode. */
const SESSION = /^(?:ses|msg|prt)_[\dA-Za-z]{20,30}$/
const SECRET_ID = /secret[ _-]?id$/i
/** Capitals, small letters and a digit. */
const MIXED = /^(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[A-Za-z\d]{6,}$/
const SNAKE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/
/** A call or an index is not a value, whatever it looks like. */
const CALL_OR_INDEX = /^[A-Za-z_][\w.]*[([]/
const FILE =
  /^(?:~|\.{1,2}|[A-Z]:)?(?:[\\/][\w.@+-]+)+\.(?:json|ya?ml|pem|key|crt|p12|txt|env|ini|toml)$|^\.env(?:\.\w{1,20})?$|^(?:[\w.-]{1,60}:)?(?:\/[a-z][a-z_.-]*){2,}$/
/** What a test runner names after PASS: a file in a folder, or a class in a namespace of PHP. */
const TESTED = /^(?:[\w.@-]+[\\/])+(?:[\w.@-]+\.[a-z]{1,4}|\w+Test)$/
/** A variable named after what it holds: `testRSA2048PrivateKey`. */
const VARIABLE = /^[A-Za-z_]\w*(?:Secret|Token|Key|[a-z]_(?:secret|token|key))\d?$/

/** What is judged of a long value. Of many names in one value, each would judge all that follows. */
const MAX_JUDGED_CHARS = 500

export const findAssigned: Find = (text, report) => {
  NAMES.lastIndex = 0
  let done = 0
  for (let hit = NAMES.exec(text); hit; hit = NAMES.exec(text)) {
    const name = nameAround(text, hit.index, hit.index + hit[0].length, done)
    done = name.to
    NAMES.lastIndex = Math.max(name.to, hit.index + 1)
    const written = text.slice(name.from, name.to).replace(/^[\w.]{1,40}\.(?:env|ENV)\./, "")
    const secrecy =
      written === "key" && /[?&-]/.test(text[name.from - 1] ?? "")
        ? "weak"
        : written === "pass" && /(?:--|[?&]|%26)$/.test(charsBefore(text, name.from, 3))
          ? "password"
          : secrecyOf(written)
    // a test of Go that passed
    if (secrecy === undefined || (written === "PASS" && text.startsWith("--- ", name.from - 4))) continue
    const closed = skip(CLOSING, text, name.to)
    const assigned = assignedTo({ text, ...name, closed, before: text[name.from - 1] ?? "", secrecy })
    // a generic type: `password?: Maybe<string>`
    if (!assigned || (!assigned.quoted && GENERIC.test(text.slice(assigned.from, assigned.to + 20)))) continue
    const assignment = { ...assigned, name: written, secrecy }
    const isFound = (secret: string) => secret !== REDACTED && isSecret(secret.slice(0, MAX_JUDGED_CHARS), assignment)
    reportNext(text, assigned.to, (secret) => PLURAL.test(written) && isFound(secret), report)
    const pieces = piecesOf(text, assigned)
    if (!isFound(pieces.map(([from, to]) => text.slice(from, to)).join(""))) continue
    for (const piece of pieces) report(...piece)
    // the value may contain names
    done = Math.max(done, ...pieces.map(([, to]) => to))
    NAMES.lastIndex = Math.max(NAMES.lastIndex, done)
  }
}

/** A value, or the strings that it is put together from: `"one" + "two"`, or one below the other. */
function piecesOf(text: string, { from, to, quoted }: Value, left = MAX_NEXT): [from: number, to: number][] {
  const at = quoted && left > 0 && !isPlaceholder(text.slice(from, to)) ? skip(JOIN, text, to) : to
  const next = at > to ? valueAt(text, at) : undefined
  return [[from, to], ...(next ? piecesOf(text, next, left - 1) : [])]
}

/** Reports what a value was changed to, and the elements after it that are secrets. */
function reportNext(text: string, from: number, isFound: (element: string) => boolean, report: ReportSpan): void {
  for (let end = from, left = MAX_NEXT; left > 0; left--) {
    const at = skip(NEXT, text, end)
    const next = at > end ? valueAt(text, at) : undefined
    if (!next || next.from >= next.to) return
    const words = text.slice(next.from, next.to)
    const isChanged = /[>→]/.test(text.slice(end, at))
    if (isChanged ? words !== REDACTED : isFound(words)) report(next.from, next.to)
    end = next.to
  }
}

/** A name in a text. `closed`: where the quote or the bracket ends that closes it; `before`: the character before it. */
type Name = { text: string; from: number; to: number; closed: number; before: string; secrecy: Secrecy }

function valueAs(syntax: Syntax, text: string, at: number, stop?: RegExp): Assigned | undefined {
  const value = valueAt(text, at, stop)
  return value && { ...value, syntax }
}

/** In `${NAME:-value}`. */
const isExpanded = ({ text, from }: Name) => text.startsWith("${", from - 2)

/** The value assigned to the name, if any. */
function assignedTo(name: Name): Assigned | undefined {
  const { text, from, to, closed, before, secrecy } = name
  // the name of a secret of AWS: `arn:aws:secretsmanager:eu-west-1:123456789012:secret:name`
  if (before === ":" && /:\d{12}:$/.test(charsBefore(text, from, 14))) return undefined
  const prompted = skip(PROMPTED, text, to)
  if (prompted > to) return valueAs("call", text, prompted)
  const sign = skip(SIGN, text, closed)
  if (sign > closed) return afterSign(name, sign)
  // a variable that is used: `"Bearer $TOKEN" https://…`
  if (before === "$" || isExpanded(name)) return undefined
  // `--token <token>` of a usage
  if (before === "<" && /--[\w-]{1,40}[ =]<$/.test(charsBefore(text, from, 45))) return undefined
  const tagged = /[<‹:]/.test(before) ? skip(TAG_END, text, to) : to
  if (tagged > to) {
    // `"Bearer <token>" https://…`
    if (/^["'`](?:[\s,;)]|$)/.test(text.slice(tagged, tagged + 2))) return undefined
    // `KEY=<your key>` above another line
    if (/[^\s>][<‹]$/.test(charsBefore(text, from, 2)) && text.slice(to, tagged).includes("\n")) return undefined
    const end = skip(CONTENT, text, tagged)
    return end > tagged ? { from: tagged, to: end, quoted: false, syntax: "markup" } : undefined
  }
  const paired = skip(PAIR, text, to)
  if (paired > to) {
    if (text[paired - 1] !== ">") return valueAs("loose", text, paired)
    const syntax = /(?:[td]d|code)[^<‹]{0,90}>$/.test(text.slice(to, paired)) ? "markup" : "loose"
    return { from: paired, to: skip(CONTENT, text, paired), quoted: true, syntax }
  }
  const earlier = /["']/.test(before) ? valueBefore(text, from) : undefined
  if (earlier) return { ...earlier, syntax: "loose" }
  const called = skip(CALL, text, closed)
  if (called > closed) return valueAs("call", text, called)
  if (before === "-") return afterFlag(name)
  return secrecy === "weak" ? undefined : afterWord(name)
}

/** After `=`, `:` and the like, which end at `sign`. */
function afterSign(name: Name, sign: number): Assigned | undefined {
  const { text, from, closed, before, secrecy } = name
  if (before === "?" || before === "&") return valueAs("query", text, sign, secrecy === "password" ? /&/ : /[&#]/)
  // `${NAME:?message}`
  if (text[sign] === "?" && isExpanded(name)) return undefined
  const written = text.slice(closed, sign)
  if (written === "|" && ALTERNATIVES.test(text.slice(sign, sign + 200))) return undefined
  // the last cell of a row
  if (/[|│]/.test(written) && text[sign] === "\n") return undefined
  const at = /^[ \t]*:[ \t]*$/.test(written) ? skip(TYPE, text, sign) : sign
  const inner = skip(INNER, text, at)
  if (inner > at) return valueAs("inner", text, inner)
  const fallback = skip(TEMPLATE_DEFAULT, text, at)
  if (fallback > at) return valueAs("loose", text, fallback)
  const isFlag = before === "-"
  if (written === "=" || (/^:[-=]?$/.test(written) && isExpanded(name))) {
    const enclosed = enclosedValue(text, from, at)
    return enclosed ? { ...enclosed, syntax: "tight" } : valueAs("tight", text, at, isFlag ? undefined : QUERY_END)
  }
  const isCell = /^[ \t]*[|│][ \t]*$/.test(written)
  if (isCell && CELL_LINE.test(text.slice(text.lastIndexOf("\n", from - 1) + 1, from + 400))) {
    const cell = valueAs("loose", text, at)
    return cell && { ...cell, quoted: !isCode(text.slice(cell.from, cell.to)) }
  }
  return valueAs(isFlag && !written.includes(":") ? "flag" : "loose", text, at, QUERY_END)
}

function afterFlag({ text, to, closed }: Name): Assigned | undefined {
  const at = skip(BLANK, text, closed)
  // a usage, which explains its flags
  if (at > closed + 1 && /^[A-Za-z][a-z]+(?: [a-z'()-]+){2}/.test(text.slice(at, at + 80))) return undefined
  const next = skip(NEXT_ARGUMENT, text, to)
  return next > to ? valueAs("flag", text, next) : at > closed ? valueAs("flag", text, at) : undefined
}

/** Where no sign follows: on the next line, in the next cell, or in prose. */
function afterWord({ text, from, to, closed, before, secrecy }: Name): Assigned | undefined {
  if (SETTING.test(charsBefore(text, from, 20))) return valueAs("tight", text, skip(BLANK, text, closed))
  const below = skip(BELOW, text, to)
  if (before === "/") {
    // the next line is what the file holds, unless it is a setting
    if (below > to && !/^[A-Za-z_][\w.-]{2,}[=:]/.test(text.slice(below, below + 80)))
      return valueAs("loose", text, below)
    if (!STORES.test(charsBefore(text, from, 160))) return undefined
  }
  if (below > to && HEADING.test(charsBefore(text, from, 80))) return valueAs("inner", text, below)
  const far = skip(PROSE_WITH_COLON, text, closed)
  if (far > closed) return valueAs("inner", text, far)
  const cell = skip(TABBED, text, closed)
  if (cell > closed) return { from: closed + 1, to: cell, quoted: true, syntax: "loose" }
  const name = text.slice(from, to)
  // 密码hunter2, 密码「hunter2」
  const isJoined = /[\u3040-\uffef]$/.test(name)
  const end = isJoined ? to : closed
  const at = skip(PROSE, text, end)
  if (at === end && !(isJoined && /^[!-~]{3}/.test(text.slice(at, at + 3)))) return undefined
  // another setting follows: `wpa2-psk passphrase="value"`
  if (/^(?:[A-Za-z]?[a-z_-]{2,40}|[A-Z_-]{3,40})=["'\w$]/.test(text.slice(at, at + 50))) return undefined
  const stop = at === end ? SENTENCE : undefined
  if ((closed > to && at > end) || /^pass$/i.test(name)) return valueAs("prose", text, at, stop)
  const between = text.slice(to, at)
  const mayBeSetting = secrecy === "password" || /\d[ \t]+$/.test(between) || TECHNICAL.test(name)
  const isSetting = mayBeSetting && skip(LAST, text, at) > at
  // `db_password value user name` on one line
  const isListed = between.trim() === "" && CODED.test(name)
  const found = valueAs(isSetting || isListed ? "loose" : "prose", text, at, stop)
  return found && { ...found, quoted: found.quoted || at === end }
}

/** How a string, an object or an entry of a list begins before a name, and how a value with blanks in it ends there. */
const ENCLOSING: readonly (readonly [opening: RegExp, value: RegExp])[] = [
  [/"$/, /[^"\\\s=]{1,100}(?: [^"\\\s=]{1,40}){0,5}(?=\\{0,8}")/y],
  [/'$/, /[^'\\\s=]{1,100}(?: [^'\\\s=]{1,40}){0,5}(?=\\{0,8}')/y],
  [/[{,] ?$/, /[^"',{}\s=]{1,100}(?: [^"',{}\s=]{1,40}){1,5}(?=[,}])/y],
]

/** A value with blanks or quotes in `"NAME=value"` and `{user=name, NAME=value}`, quoted as a whole and not by itself. */
function enclosedValue(text: string, nameFrom: number, at: number): Value | undefined {
  const before = charsBefore(text, nameFrom, 2)
  const value = ENCLOSING.find(([opening]) => opening.test(before))?.[1]
  const to = value ? skip(value, text, at) : at
  return to > at && /[\s"'`<>]/.test(text.slice(at, to)) ? { from: at, to, quoted: true } : undefined
}

/** What a template uses where nothing is set: `{{ lookup("env", "X") | default("value") }}`. */
const TEMPLATE_DEFAULT = /["']?\{\{[^{}\n]{0,200}?\bdefault[ \t(]{1,9}(?=["'])/y
/** The next element of a list or an array of arguments, or the argument on the next line. */
const NEXT_ARGUMENT =
  /["']?[ \t]*\n[ \t]*-[ \t]+(?=[^\s-])|[ \t]+\\\r?\n[ \t]*(?=[^\s-])|["'][ \t]+\[\d{1,3}\]=(?=["'])/y
const QUERY_END = /&(?=[A-Za-z_][\w.-]{0,40}=)/

type Assigned = Value & { syntax: Syntax }
type Assignment = Assigned & { name: string; secrecy: Secrecy }

/** The value that an attribute before the name's has: `value="…" name="NAME"`. */
function valueBefore(text: string, nameFrom: number): Value | undefined {
  const found = VALUE_BEFORE.exec(charsBefore(text, nameFrom, MAX_BEFORE_CHARS))
  if (!found?.[2]) return undefined
  const from = nameFrom - found[0].length + (found[1]?.length ?? 0)
  return { from, to: from + found[2].length, quoted: true }
}

function isSecret(value: string, { name, secrecy, syntax, quoted }: Assignment): boolean {
  if (value.length < 3 || isPlaceholder(value) || value.toLowerCase() === name.toLowerCase()) return false
  // a contract
  if (/^token$/i.test(name) && ACCOUNT.test(value)) return false
  if (/^(?:pin|otp)$/i.test(name) && /^\d{4,8}$/.test(value)) return true
  // of Consul and Vault; elsewhere the name of a secret
  if (SECRET_ID.test(name)) return UUID.test(value)
  // a label, or a script
  if (quoted && /^[\p{L} -]+$/u.test(value) && FOREIGN_NAMES.test(value)) return false
  if (quoted && /^(?:node|npm|npx|pnpm|yarn|bun|tsx|python3?|bash|sh) \S/.test(value)) return false
  // another option, an address, or a file
  if (!quoted && (/^--[a-z]|^https?:\/\/[^\s@?]*$/.test(value) || FILE.test(value))) return false
  if (name === "PASS" && !quoted && syntax !== "tight" && TESTED.test(value)) return false
  // the folder that a shell is in
  if (/^(?:OLD)?PWD$/.test(name) && /^[/~]|^[A-Z]:\\/.test(value)) return false
  const isExpression =
    !quoted &&
    ((isCode(value) && (CALL_OR_INDEX.test(value) || !isRandom(value.slice(0, 200)))) ||
      (secrecy === "secret" && VARIABLE.test(value)))
  const isConstant = name === name.toUpperCase()
  // `pass` of a file of settings
  if (
    name === "pass" &&
    (syntax === "tight" || (syntax === "loose" && (quoted || /\d/.test(value) || isPhrase(value)))) &&
    value.length >= 6 &&
    !isExpression &&
    !isWords(value) &&
    !isProse(value)
  )
    return true
  if (secrecy === "weak")
    return (
      !(syntax === "loose" && !quoted && isCode(value)) &&
      !SESSION.test(value) &&
      (isRandom(value) ||
        (UUID.test(value) && (PLURAL.test(name) || isConstant || name === "key")) ||
        (quoted && /salt$/i.test(name) && value.length >= 8 && (MIXED.test(value) || isChosen(value))) ||
        // only letters, too many for a name and in an order that words do not have
        (value.length >= 16 && WORD.test(value) && !isWordlike(value)) ||
        (isConstant && (MIXED.test(value) || (value.length >= 10 && isChosen(value)))))
    )
  if (isProse(value) && !((quoted || syntax === "markup") && isChosen(value))) return false
  const isNumber = /^[\d.,_-]+$/.test(value)
  if (isNumber) return secrecy === "password" ? /^\d{4,}$/.test(value) : value.length >= 20
  const isWord = WORD.test(value) && isPlain(value, quoted)
  switch (syntax) {
    case "tight":
    case "query":
      if (isExpression) return false
      if (secrecy === "password" || /^[A-Z][A-Z0-9_]*$/.test(name)) return !isWord || !/^[A-Z]/.test(value)
      return !isWord && value.length >= 6 && (quoted || !isIdentifier(value) || isNumberedPhrase(value))
    case "flag":
      if (value.startsWith("-") || isExpression || /^[a-z]{1,3}$/.test(value)) return false
      return secrecy === "password" ? !/^[A-Z_]+$/.test(value) : !isWord && value.length >= 6 && !isIdentifier(value)
    case "loose":
      if (quoted)
        return isWord ? secrecy === "password" && value === value.toLowerCase() && value.length >= 6 : !isWords(value)
      if (isExpression) return false
      if (secrecy === "secret" && /^[a-z]{1,6}$/.test(value)) return false
      if (isNumberedPhrase(value) && (secrecy === "password" || /\d\d$/.test(value))) return true
      if (secrecy === "password" && MIXED.test(value) && !isWordlike(value)) return true
      return value.length >= 4 && !isWord && !isIdentifier(value)
        ? /[\d!@#%^*+$&]/.test(value) || secrecy === "password" || !isWordlike(value) || isChosen(value)
        : // a word and a number, as people choose passwords: `hunter2`
          secrecy === "password" &&
            /^(?:[a-z]{3,}(?:_[a-z]{3,}(?!(?:8|16|32|64|128|256|512)$)(?=\d\d))?\d{1,4}|[A-Z][a-z]{2,}[_-]?(?!(?:16|32|64|128|256|512)$)\d{2,4})$/.test(
              value,
            )
    case "markup":
      return !isWord && !isWords(value) && value.length >= 4
    case "call":
      if (isWord || isWords(value) || value.includes("${")) return false
      if (secrecy === "password") return value.length >= 4
      return value.length >= (MIXED.test(value) ? 6 : 8) && !isCode(value)
    case "inner":
      if (quoted && isPhrase(value)) return true
      if (isExpression || /\s|:\/\//.test(value) || (!quoted && /^[a-z]+(?:_[a-z\d]+){2,}$/.test(value))) return false
      if (value.length >= 8 && WORD.test(value) && !isWord) return true
      if (isChosen(value) || (quoted && (UUID.test(value) || NUMBERED.test(value)) && !SECRET_WORD.test(value)))
        return true
      if (secrecy === "secret" && UUID.test(value)) return true
      if (secrecy !== "password" || isCode(value)) return isRandom(value)
      if (isNumberedPhrase(value)) return true
      return (
        value.length >= 6 &&
        /[\d!*$^%&#+]/.test(value) &&
        (quoted ? !isIdentifier(value) : /[^\w./:-]/.test(value) || isRandom(value) || !isWordlike(value))
      )
    case "prose":
      if (/^pass$/i.test(name)) return isRandom(value)
      if (isChosen(value) || (quoted && isNumberedPhrase(value))) return true
      if (value.length >= 8 && WORD.test(value) && !isWord) return true
      if (secrecy === "secret")
        return (
          !isCode(value) &&
          (isRandom(value) || UUID.test(value) || (quoted && value.length >= 12 && !isWordlike(value)))
        )
      return (
        value.length >= 6 &&
        (/[\d!*$^%&#+]/.test(value) || !isWordlike(value)) &&
        /\p{L}/u.test(value) &&
        !isCode(value) &&
        (((quoted || isConstant) && NUMBERED.test(value)) || !SNAKE.test(value) || !isWordlike(value)) &&
        (quoted || !isWords(value) || isRandom(value))
      )
  }
}

/** A message, a label or a question about the secret. */
function isProse(value: string): boolean {
  return (
    /\s/.test(value) &&
    /^(?:[\p{L}\s.,:;!?'’()…-]|\b\d{1,3}\b(?= \p{L}))+$/u.test(value) &&
    isWordlike(value) &&
    (SENTENCE_WORD.test(value) || SECRET_WORD.test(value) || !/\p{Ll}\p{Lu}/u.test(value))
  )
}

/** An identifier, a path or a translation key. */
function isWords(value: string): boolean {
  if (!/^[A-Za-z_$@./:#-]+(?:[.:/]v\d{1,2})?$/.test(value) || isChosen(value) || !isWordlike(value)) return false
  return value.length < 12 || !isJumbled(value) || SECRET_WORD.test(value)
}

function isIdentifier(value: string): boolean {
  return IDENTIFIER.test(value) && isPlain(value)
}

/** Whether the letters are those of words that nobody chose as a secret. */
function isPlain(value: string, quoted = false): boolean {
  return isWordlike(value) && !isChosen(value, quoted) && !(value.length >= 12 && isJumbled(value))
}
