// Takes secrets out of a line before it is shown, kept or logged. Works on short text: it is called on what is about
// to be quoted, never on whole outputs.

const MARK = "[redacted]"

/** Token formats with a fixed prefix, as their issuers document them; the prefix alone makes them recognisable. */
const TOKENS = new RegExp(
  [
    "sk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{16,}", // Anthropic, OpenAI, OpenRouter
    "(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}",
    "glpat-[A-Za-z0-9_-]{16,}",
    "xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    "AIza[A-Za-z0-9_-]{30,}",
    "ya29\\.[A-Za-z0-9_-]{20,}",
    "(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}", // Stripe
    "npm_[A-Za-z0-9]{30,}",
    "pypi-[A-Za-z0-9_-]{30,}",
    "hf_[A-Za-z0-9]{30,}",
    "SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}", // SendGrid
    "dop_v1_[a-f0-9]{40,}",
    "shpat_[a-fA-F0-9]{30,}",
    "eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*", // JWT
    "-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*",
  ]
    .map((pattern) => `(?<![A-Za-z0-9])${pattern}`)
    .join("|"),
  "g",
)
/** `user:password@` in a URL or connection string. */
const URL_PASSWORD = /([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,80}:)[^\s@/]{1,200}(@)/gi
const HEADER =
  /\b((?:proxy-)?authorization\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?|bearer\s+|x-api-key\s*[:=]\s*["']?)[^\s"']{6,}/gi
/** A value given to a name that says it is a secret: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`. */
const ASSIGNED =
  /((?:^|[^A-Za-z0-9])[A-Za-z0-9_.-]{0,40}(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|credential|token|pwd)[A-Za-z0-9_]{0,20}["']?(?:\s*[:=]\s*|\s+(?=["']))["']?)([^\s"',;)}\]]{6,})/gi
const FLAG = /(--?(?:password|passwd|token|secret|api-key|access-key)[= ])([^\s"']{4,})/gi
/** What stands where a secret would without being one: a call, a lookup, a placeholder, a type. */
const HARMLESS =
  /^(?:\$|%|<|\{|\[|process\.|os\.|env\.|import\.|string\b|number\b|boolean\b|null\b|undefined\b|true\b|false\b|[A-Za-z_.]+\(|\*+$|x+$|[A-Za-z]+$)/i

/** The line with secrets replaced by `[redacted]`. */
export function redact(text: string): string {
  if (text.length < 8) return text
  return text
    .replace(TOKENS, MARK)
    .replace(URL_PASSWORD, `$1${MARK}$2`)
    .replace(HEADER, `$1${MARK}`)
    .replace(FLAG, `$1${MARK}`)
    .replace(ASSIGNED, (whole, name: string, value: string) => (HARMLESS.test(value) ? whole : `${name}${MARK}`))
}
