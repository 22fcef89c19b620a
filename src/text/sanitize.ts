// Making foreign text safe to quote. Tool outputs, file names, todo items and user text are data: nothing in them may
// close the HUD, open a tag, start a conversation turn, break the line or hide behind invisible characters.

/** Everything Unicode asks renderers not to show: zero-width and direction marks, variation selectors, tag characters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu
/** Control characters, line separators, the blank Braille pattern, and code points that are not characters. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u2800\ufff0-\uffff]/gu
/** No script stacks more than four marks on a letter, and a terminal draws the rest over neighbouring lines. */
export const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu
/**
 * What a terminal acts on: control characters except the line feed, marks that change the writing direction, and line
 * separators other than the line feed. For text that is displayed as it is instead of being made one line.
 */
export const ACTIVE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
/** Complete ANSI escape sequences: colours and cursor moves, titles and links, and those of a single character. */
export const ESCAPE_SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b(?:\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/**
 * Shows control characters, and marks that reverse the writing direction, by their code. Even a session's title is
 * untrusted: it was written by a model that had read arbitrary files.
 */
export function escapeControls(text: string): string {
  return text.replace(ACTIVE, (char) => {
    const code = char.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`
  })
}

/** `line` never reads past this many characters. */
const MAX_SCANNED_CHARS = 1000

/** NUL and lone surrogates replaced by U+FFFD, so that the text survives SQLite, JSON and every provider. */
export function wellFormed(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes("\u0000") ? whole.replaceAll("\u0000", "\ufffd") : whole
}

/**
 * One printable line: escape sequences and invisible characters removed, white space collapsed, tags and chat-template
 * tokens neutralised: nothing in it opens a tag or a turn, or looks as if it did. Reads at most the first 1,000 characters.
 */
export function line(text: string): string {
  return oneLine(text.slice(0, MAX_SCANNED_CHARS))
}

/** As `line`, but of the whole text. Idempotent. */
export function oneLine(text: string): string {
  return printableLine(text).replace(TAG, "‹").replace(BRACKETED_TOKEN, parenthesis)
}

/**
 * A line of code: as `oneLine`, but tags and types stay, except what a chat template would take for its own marks or a model
 * for a message of the host. Idempotent.
 */
export function codeLine(text: string): string {
  const opened = (sign: string, at: number, all: string) => (TYPE_NAME.test(all.slice(at, at + 5)) ? sign : "‹")
  return printableLine(text).replace(TURN_TAG, opened).replace(BRACKETED_TOKEN, parenthesis)
}

function printableLine(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(ESCAPE_SEQUENCE, "")
      // removed rather than replaced by a space: a word split in two, a secret above all, would not be recognised
      .replace(INVISIBLE, "")
      .replace(UNPRINTABLE, " ")
      .replace(STACKED_MARKS, "$1")
      .replace(/\s+/g, " ")
      .trim()
  )
}

/** What belongs to the character before it: half of a surrogate pair, which no encoder accepts alone, an accent, a vowel sign. */
const CONTINUES = /^[\udc00-\udfff\p{M}\p{Emoji_Modifier}]/u

/** The place at or beyond `at`, by steps of 1 or -1, where no character is divided from what belongs to it. */
export function edgeAt(text: string, at: number, step: 1 | -1): number {
  return at > 0 && CONTINUES.test(text.slice(at, at + 2)) ? edgeAt(text, at + step, step) : at
}

/** Cuts to at most `max` characters, the last being `…` when something was cut; never splits a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, edgeAt(text, max - 1, -1))}…`.replace(/\s+…$/, "…")
}

/** Like `cut`, but keeps both ends: what identifies a file or a command is often at its end. */
export function cutMiddle(text: string, max: number, tail = Math.floor((max - 1) / 2)): string {
  if (text.length <= max) return text
  const head = text.slice(0, edgeAt(text, max - 1 - tail, -1))
  return `${head}…${text.slice(edgeAt(text, text.length - tail, 1))}`.toWellFormed()
}

/** The text, or if it has more characters than `max`, its beginning and its end, half of `max` each. */
export function bothEnds(text: string, max: number): string[] {
  return text.length <= max ? [text] : [text.slice(0, max / 2), text.slice(-max / 2)]
}

/**
 * A copy of the text in memory of its own. A substring keeps its whole source alive: one line of a 10 MB output would
 * keep the 10 MB. The copy goes through JSON because engines optimise away every cheaper way of copying a string.
 */
export function own(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}

/** `<`, with its compatibility forms and the escapes other languages write it as. */
const LESS_THAN = String.raw`(?:[<≮\uff1c\ufe64]|[&\uff06](?:amp;){0,3}(?:lt|#0{0,6}60|#x0{0,6}3c);?|%(?:25){0,3}3c|\\(?:u003c|u\{0{0,4}3c\}|x3c|0?74))`
/** Characters that only look like it. */
const LOOKALIKE = String.raw`[\u2039\u2329\u27e8\u3008\u276c\u276e\u2770\u227a\u1438\u02c2\u29fc\u2991\u300a\u27ea\u226a\u22d6\u2aa1\u{1d236}]`
const SLASH = "[/\uff0f\u2044\u2215\u29f8\u2571]"
const BAR = "[|\u00a6\uff5c\u01c0\u2223\u2502\u2758\uffe8]"
/** Scripts in which brackets that look like `<` enclose titles. */
const CJK = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]`
const ROLES = String.raw`hud|(?:system|user|assistant|developer|tool|human|im_start|im_end)\b`

/** An e-mail address in brackets, as in the author of a commit. */
const ADDRESS = String.raw`[\w.+-]{1,64}@[\w.-]{1,100}>`

/**
 * A sign like `<` that opens a tag: directly before a letter, `!` or `?`, or before `/`, `|`, our own name or a role even
 * with spaces in between. `a < b`, `Map<1>` and `Ada <ada@example.org>` do not match.
 */
const TAG = new RegExp(
  String.raw`(?:${LESS_THAN}\p{M}*(?!${ADDRESS})(?=\p{L})|(?:${LESS_THAN}|${LOOKALIKE})\p{M}*(?=\s{0,8}(?:${SLASH}|${BAR}|${ROLES})|(?!${CJK}|${ADDRESS})\p{L}|[!?]))`,
  "giu",
)

/** Special tokens that models spell `<name>`, with the numbers some of them end in. */
const TOKEN_NAMES =
  "s|(?:bos|eos|pad|unk|cls|sep|mask)_token|bos|eos|unk|pad|mask|cls|sep|eot|eop|eod|sop|sot|hud|system|user|assistant|human|bot|system-reminder|" +
  "(?:start|end)_of_(?:turn|image|text|audio|message)|image_soft_token|begin_of_(?:text|sentence)|(?:end|start)oftext|" +
  "think|thought|reasoning|answer|tools?|tool_(?:call|calls|response|result|results)|function_calls?|arg_(?:key|value)|" +
  "fim_(?:prefix|middle|suffix|pad)|file_sep|filename|gh_stars|repo_?name|issue_(?:start|comment|closed)|" +
  "jupyter_(?:start|text|code|output|script)|empty_output|commit_(?:before|msg|after)|im_(?:start|end|sep)|" +
  "(?:unused|special|reserved|extra|extra_id|loc|seg|control)_?\\d{1,6}|0x[0-9a-f]{2}|seed:\\w{1,20}"
/** Special tokens in square brackets, in the case that templates write them in; in other cases they are ordinary words. */
const BRACKETED_NAMES =
  "INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|MODEL_SETTINGS|CALL_ID|THINK|[gs]?MASK|CLS|" +
  "SEP|BOS|EOS|PAD|UNK|IMG|IMG_BREAK|IMG_END|BEGIN_AUDIO|AUDIO|extra_id_\\d{1,6}|control_\\d{1,6}"

/** A special token that begins with `<`, recognised by its name or by signs that never follow `<` in code. */
const SPECIAL_TOKEN = new RegExp(
  String.raw`[<\uff1c\ufe64](?=${SLASH}?(?:${TOKEN_NAMES})[>\uff1e\ufe65]|${BAR}|[^<>\n]{0,60}(?:[|\uff5c][>\uff1e\ufe65]|\u2581)|<${SLASH}?SYS>)`,
  "giu",
)
/** The same, and a tag with our own name or a role's. */
const TURN_TAG = new RegExp(String.raw`${SPECIAL_TOKEN.source}|<(?=\s{0,8}/?\s{0,8}(?:${ROLES}))`, "giu")
/** A type or a component in code, such as `Promise<User>`; no token and no role is spelled so. */
const TYPE_NAME = /^<\/?(?![Hh][Uu][Dd])[A-Z][a-z]/
/** `[INST]`, `[|user|]`, and the `]~b]` and `[e~[` of one model family. */
const BRACKETED_TOKEN = new RegExp(String.raw`\[(?=${SLASH}?(?:${BRACKETED_NAMES})\]|\||e~\[)|\](?=~!?b[\[\]])`, "gu")
/** Headings that separate turns in prompt formats without special tokens. */
const TURN_HEADING = /^([ \t]*#{2,3})(?=[ \t]*(?:human|user|assistant|system|instruction|response)\b[ \t]*:?[ \t]*$)/gim

const parenthesis = (bracket: string) => (bracket === "[" ? "(" : ")")

/**
 * For a document that a model is to read verbatim: breaks only what a chat template would take for its own marks. A
 * tokenizer that knows a mark no longer recognises it without its first character.
 */
export function withoutTurns(text: string): string {
  return text.replace(SPECIAL_TOKEN, "‹").replace(BRACKETED_TOKEN, parenthesis).replace(TURN_HEADING, "$1#")
}
