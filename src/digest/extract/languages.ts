// What a declaration looks like in each language. A pattern sees the start of a single line; there is no grammar, so a
// declaration with an unusual layout is missed rather than misread.

/** `rank`: 0 exports and types, 1 top level, 2 members, 3 the rest. */
type Declaration = { readonly name: string; readonly rank: number }

type Pattern = readonly [pattern: RegExp, rank: number]
export type Language = {
  readonly name: string
  readonly patterns: readonly Pattern[]
  /** for C-like definitions, which a pattern finds only with backtracking */
  readonly find?: (text: string) => Declaration | undefined
}

const MODIFIERS =
  "(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|data|partial|readonly|async|suspend|inline|virtual|export|export default|default|declare|pub|fileprivate|mutating|lateinit|annotation|value) )*"
const NOT_NAMES = new Set(
  "if for while switch catch return else do new throw case function await typeof sizeof using with match super".split(
    " ",
  ),
)

const script: Language = {
  name: "TypeScript",
  patterns: [
    [
      /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|enum|const enum|const|let|var|namespace) +([\w$]+)/,
      0,
    ],
    [/^(?:export default|module\.exports|exports)(?:\.([\w$]+))?\b/, 0],
    [/^(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|enum) +([\w$]+)/, 1],
    [/^(?:const|let) ([\w$]+)(?:: [^=]+)? = (?:async )?(?:\(|function\b|\w+ =>|<)/, 1],
    [/^\s*(?:describe|it|test)(?:\.\w+)*\(\s*["'`]([^"'`]{1,120})/, 1],
    [/^(?:const|let|var) ([\w$]+)\b/, 3],
  ],
  find: member,
}
const jvm: Language = {
  name: "Java",
  patterns: [
    [
      new RegExp(
        `^\\s*${MODIFIERS}(?:enum class|class|interface|enum|record|object|trait|struct|protocol|extension|actor|namespace|mixin) +([\\w.]+)`,
      ),
      0,
    ],
    [new RegExp(`^\\s*${MODIFIERS}(?:fun|func|def) +(?:<[^>]*> )?(?:[\\w.]+\\.)?(\\w+)`), 1],
  ],
  find: member,
}
const c: Language = {
  name: "C++",
  patterns: [
    [/^(?:template ?<[^>]*> ?)?(?:class|struct|enum(?: class)?|namespace|union|typedef (?:struct|enum)) (\w[\w:]*)/, 0],
    [/^#define (\w+)/, 3],
  ],
  find: definition,
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  "ts tsx mts cts js jsx mjs cjs vue svelte astro": script,
  "java kt kts cs scala swift dart groovy": jvm,
  "c h cc cpp cxx hpp hh ino m mm cu": c,
  "py pyi": {
    name: "Python",
    patterns: [
      [/^class (\w+)/, 0],
      [/^(?:async )?def (\w+)/, 1],
      [/^\s+(?:async )?def (\w+)/, 2],
      [/^([A-Z][A-Z0-9_]{2,})\s*[:=]/, 3],
    ],
  },
  go: {
    name: "Go",
    patterns: [
      [/^type (\w+)/, 0],
      [/^func (?:\([^)]*\) )?([A-Z]\w*)/, 0],
      [/^func (?:\([^)]*\) )?(\w+)/, 1],
      [/^(?:var|const) (\w+)/, 3],
    ],
  },
  rs: {
    name: "Rust",
    patterns: [
      [
        /^pub(?:\([^)]*\))? (?:async |unsafe |const |extern "C" )*(?:fn|struct|enum|trait|mod|type|union|static|const) +(\w+)/,
        0,
      ],
      [/^(?:async |unsafe |const )*(?:fn|struct|enum|trait|mod|type|union|macro_rules!) +(\w+)/, 1],
      [/^impl(?:<[^>]*>)? ([^{]{1,80}?) *(?:\{|$)/, 1],
      [/^\s+pub(?:\([^)]*\))? (?:async |unsafe |const )*fn (\w+)/, 2],
    ],
  },
  "rb rake": {
    name: "Ruby",
    patterns: [
      [/^\s*(?:class|module) ([\w:]+)/, 0],
      [/^\s*def ([\w.]+[?!=]?)/, 1],
      [/^\s*(?:describe|context|it) ["']([^"']{1,120})/, 1],
    ],
  },
  php: {
    name: "PHP",
    patterns: [
      [/^\s*(?:abstract |final |readonly )*(?:class|interface|trait|enum) (\w+)/, 0],
      [/^\s*(?:(?:public|private|protected|static|final|abstract) )*function &?(\w+)/, 1],
    ],
  },
  "sh bash zsh fish": {
    name: "shell",
    patterns: [
      [/^(?:function )?([\w:-]+) ?\(\)/, 0],
      [/^function ([\w:-]+)/, 0],
      [/^(?:export )?([A-Z][A-Z0-9_]+)=/, 3],
    ],
  },
  sql: {
    name: "SQL",
    patterns: [
      [
        /^\s*(?:CREATE|ALTER)(?: OR REPLACE)?(?: UNIQUE)? (?:TABLE|INDEX|VIEW|FUNCTION|TRIGGER|TYPE)(?: IF NOT EXISTS)? ([\w."`]+)/i,
        0,
      ],
    ],
  },
  proto: {
    name: "protobuf",
    patterns: [
      [/^(?:message|service|enum) (\w+)/, 0],
      [/^\s+rpc (\w+)/, 1],
    ],
  },
  "graphql gql": {
    name: "GraphQL",
    patterns: [[/^(?:extend )?(?:type|input|enum|interface|union|scalar|query|mutation|fragment) (\w+)/, 0]],
  },
  "ex exs": {
    name: "Elixir",
    patterns: [
      [/^\s*defmodule ([\w.]+)/, 0],
      [/^\s*(?:def|defp|defmacro|test) "?([\w?!]+)/, 1],
    ],
  },
  lua: { name: "Lua", patterns: [[/^\s*(?:local )?function ([\w.:]+)/, 0]] },
  "tf hcl": { name: "Terraform", patterns: [[/^(?:resource|data|module|variable|output|provider) "([^"]+)"/, 0]] },
  "css scss less": { name: "CSS", patterns: [[/^([.#:@a-z][^{;]{0,100}?) *\{/, 1]] },
  mk: { name: "Makefile", patterns: [[/^([\w./-]+):(?!=)/, 0]] },
  nix: { name: "Nix", patterns: [[/^ {2,4}(\w[\w.-]*) = /, 2]] },
}

/** Languages that share the patterns of another, by their own names. */
const NAMES: Readonly<Record<string, string>> = {
  "js mjs cjs jsx": "JavaScript",
  vue: "Vue",
  svelte: "Svelte",
  astro: "Astro",
  "kt kts": "Kotlin",
  cs: "C#",
  scala: "Scala",
  swift: "Swift",
  dart: "Dart",
  groovy: "Groovy",
  c: "C",
  h: "C header",
  m: "Objective-C",
}

const LANGUAGE_BY_EXTENSION = byExtension(LANGUAGES)
const NAME_BY_EXTENSION = byExtension(NAMES)

function byExtension<Value>(table: Readonly<Record<string, Value>>): ReadonlyMap<string, Value> {
  return new Map(
    Object.entries(table).flatMap(([extensions, value]) => extensions.split(" ").map((one) => [one, value] as const)),
  )
}

/** The language of a file by its extension or its well-known name. Undefined for other files. */
export function languageOf(path: string): Language | undefined {
  const file = path.replace(/^.*[\\/]/, "")
  if (/^(?:GNU)?[Mm]akefile$/.test(file)) return LANGUAGE_BY_EXTENSION.get("mk")
  const extension = /\.([A-Za-z]\w*)$/.exec(file)?.[1]?.toLowerCase() ?? ""
  const language = LANGUAGE_BY_EXTENSION.get(extension)
  const name = NAME_BY_EXTENSION.get(extension)
  return language && name ? { ...language, name } : language
}

/** What a line declares. Only its first 200 characters are examined. */
export function declarationIn(line: string, { patterns, find }: Language): Declaration | undefined {
  const text = line.slice(0, 200)
  for (const [pattern, rank] of patterns) {
    const found = pattern.exec(text)
    if (found) return { name: found[1] ?? "default", rank }
  }
  return find?.(text)
}

/** A method: indented, with a name before the parenthesis, and a body or nothing after it. */
function member(text: string): Declaration | undefined {
  if (!/^(?: {2,8}|\t{1,2})[\w$#@*[]/.test(text)) return undefined
  const open = text.indexOf("(")
  if (open < 0 || !/[{,(:>)]\s*$|=>\s*$/.test(text) || /[;=]/.test(text.slice(0, open))) return undefined
  const head = text.slice(0, open).trim()
  const name = /([\w$#]+)(?:<[^()]*>)?$/.exec(head)?.[1]
  if (!name || NOT_NAMES.has(name) || /\b(?:return|await|new|throw|else)\b|[.!&|?"'`]/.test(head)) return undefined
  // a call has no modifier before its name and no body after its arguments
  const body = /\{\s*$/.test(text) && !/(?:=>|function\b.*) *\{\s*$/.test(text)
  if (name === "constructor") return { name, rank: 3 }
  return body || /^(?:public|private|protected|static|async|override|get|set|abstract|internal)\b/.test(head)
    ? { name, rank: 2 }
    : undefined
}

/** A function of C or C++: a type, a name and a parenthesis at the left margin. */
function definition(text: string): Declaration | undefined {
  if (!/^[A-Za-z_]/.test(text)) return undefined
  const open = text.indexOf("(")
  const head = text.slice(0, Math.max(0, open))
  if (!/[\s*&]/.test(head) || !/^[\w:<>,*&~ \t]+$/.test(head)) return undefined
  const name = /([\w:~]+)\s*$/.exec(head)?.[1]
  if (!name || /^(?:return|else|if|for|while|switch|case|using|goto|typedef)\b/.test(head)) return undefined
  return { name, rank: text.trimEnd().endsWith(";") ? 2 : 1 }
}
