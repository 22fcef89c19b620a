// What programs and models take for their own marks: tags, the chat templates' roles and turns, and what a reader sees
// as such. In quoted text they are broken at their first sign, `<` as `‹` and `[` as `(`; all the rest stays as it is.

/** What is `<`: with its compatibility forms, and as other languages write it. */
const SIGN = String.raw`(?:[<≮\uff1c\ufe64]|[&\uff06](?:amp;){0,3}(?:lt|#0{0,6}60|#x0{0,6}3c);?|%(?:25){0,3}3c|\\(?:u003c|u\{0{0,4}3c\}|x3c|0?74))`
/** What only looks like it. */
const ALIKE = String.raw`[\u2039\u2329\u27e8\u3008\u276c\u276e\u2770\u227a\u1438\u02c2\u29fc\u2991\u300a\u27ea\u226a\u22d6\u2aa1\u{1d236}]`
const SLASH = "[/\uff0f\u2044\u2215\u29f8\u2571]"
const BAR = "[|\u00a6\uff5c\u01c0\u2223\u2502\u2758\uffe8]"
/** Writing in which brackets that look like `<` stand around titles. */
const ASIAN = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]`
const WORDS = String.raw`hud|(?:system|user|assistant|developer|tool|human|im_start|im_end)\b`

/**
 * A sign like `<` that opens something: before a letter, `!` or `?` at once, before `/`, `|` or a name of ours or of a
 * role with spaces between too. `a < b` and `Map<1>` do not.
 */
const TAG = new RegExp(
  String.raw`(?:${SIGN}\p{M}*(?=\p{L})|(?:${SIGN}|${ALIKE})\p{M}*(?=\s{0,8}(?:${SLASH}|${BAR}|${WORDS})|(?!${ASIAN})\p{L}|[!?]))`,
  "giu",
)

/** Names that models have as `<name>`, with the numbers that some have behind them. */
const NAMES =
  "s|(?:bos|eos|pad|unk|cls|sep|mask)_token|bos|eos|unk|pad|mask|cls|sep|eot|eop|eod|sop|sot|hud|system|user|assistant|human|bot|system-reminder|" +
  "(?:start|end)_of_(?:turn|image|text|audio|message)|image_soft_token|begin_of_(?:text|sentence)|(?:end|start)oftext|" +
  "think|thought|reasoning|answer|tools?|tool_(?:call|calls|response|result|results)|function_calls?|arg_(?:key|value)|" +
  "fim_(?:prefix|middle|suffix|pad)|file_sep|filename|gh_stars|repo_?name|issue_(?:start|comment|closed)|" +
  "jupyter_(?:start|text|code|output|script)|empty_output|commit_(?:before|msg|after)|im_(?:start|end|sep)|" +
  "(?:unused|special|reserved|extra|extra_id|loc|seg|control)_?\\d{1,6}|0x[0-9a-f]{2}|seed:\\w{1,20}"
/** Names in square brackets, as they are written in templates; other than these they are words of a manual. */
const BRACKETED =
  "INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|MODEL_SETTINGS|CALL_ID|THINK|[gs]?MASK|CLS|" +
  "SEP|BOS|EOS|PAD|UNK|IMG|IMG_BREAK|IMG_END|BEGIN_AUDIO|AUDIO|extra_id_\\d{1,6}|control_\\d{1,6}"

/** A mark of a template's that begins with `<`, by its name or by the signs that no code has there. */
const TOKEN = new RegExp(
  String.raw`[<\uff1c\ufe64](?=${SLASH}?(?:${NAMES})[>\uff1e\ufe65]|${BAR}|[^<>\n]{0,60}(?:[|\uff5c][>\uff1e\ufe65]|\u2581)|<${SLASH}?SYS>)`,
  "giu",
)
/** `[INST]`, `[|user|]`, and `]~b]` and `[e~[` of one family. */
const SQUARE = new RegExp(String.raw`\[(?=${SLASH}?(?:${BRACKETED})\]|\||e~\[)|\](?=~!?b[\[\]])`, "gu")
/** Headings that formats without marks of their own tell the turns by. */
const TURN = /^([ \t]*#{2,3})(?=[ \t]*(?:human|user|assistant|system|instruction|response)\b[ \t]*:?[ \t]*$)/gim

const closed = (sign: string) => (sign === "[" ? "(" : ")")

/** For text that is shown on a line of ours: whatever opens a tag or a turn, or looks like it, opens nothing. */
export function withoutTags(text: string): string {
  return text.replace(TAG, "‹").replace(SQUARE, closed)
}

/**
 * For a document that a model is to read: only what a chat template would take for its own, since the rest must stay to
 * the letter. A tokenizer that knows the mark does not know what is left of it.
 */
export function withoutTurns(text: string): string {
  return text.replace(TOKEN, "‹").replace(SQUARE, closed).replace(TURN, "$1#")
}
