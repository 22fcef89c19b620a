// The diagnostics that compilers, type checkers and linters print about places in the source, in a dozen formats.
// Whether the run as a whole passed is decided by `builds.ts` and the exit code.

import type { CheckFailure, CheckReader, CheckReport } from "./report.ts"

type Diagnostic = { severity: "error" | "warning"; failure: CheckFailure; tool: string; sure: boolean }

const MAX_DIAGNOSTICS = 50
const SEVERITY = /error|warn|fatal|\bTS\d|\.go:|^e: |✘|✖|\b[A-Z]{1,4}\d{3,4}\b|lint\/|━/i

/** tsc, msbuild, MSVC: `src/a.ts(4,2): error TS2304: Cannot find name 'x'.` */
const PARENS = /^\s*([^\s("'`][^("'`]*)\((\d+)(?:,(\d+))?\) ?: (?:fatal )?(error|warning) ([A-Z]+\d+): (.+)$/
/** tsc pretty, pyright: `src/a.ts:4:2 - error TS2304: message` */
const DASH = /^\s*(\S[^:]*):(\d+):(\d+) - (error|warning)(?: ([A-Z]+\d+))?: (.+)$/
/** gcc, clang, javac, swiftc, mypy, oxlint, eslint unix: `a.c:4:2: error: message` */
const COLONS =
  /^\s*((?:[A-Za-z]:)?[^\s:][^:]*):(\d+):(?:(\d+):)? (?:fatal )?(error|warning)(?:\[\w+\])?(?: [\w@/()-]+)?: (.+)$/i
/** go build, go vet, staticcheck, golangci-lint */
const GO = /^(?:vet: )?([\w@./\\~+-]+\.go):(\d+)(?::(\d+))?: (.+)$/
/** ruff concise, flake8, pylint, pycodestyle: `a.py:4:2: F401 message` */
const CODE = /^(\S+\.pyi?|\S+\.ipynb):(\d+):(\d+): ([A-Z]{1,4}\d{2,5}):? (.+)$/
/** kotlinc; javac under maven */
const KOTLIN = /^(?:e|w): (?:file:\/\/)?(\S+\.kts?):(\d+):(\d+):? (.+)$/
const MAVEN = /^\[(ERROR|WARNING)\] (\S+\.(?:java|kt|scala)):\[(\d+),(\d+)\] (.+)$/
/** eslint stylish: indented under its file's line */
const STYLISH = /^ +(\d+):(\d+) +(error|warning) +(.+?)(?: {2,}(\S+))?$/

export const diagnostics: CheckReader = {
  signature: /\berror\b|\bwarning\b|^e: |\.go:\d+:|\.pyi?:\d+:\d+: [A-Z]|^\S+:\d+:\d+ \w+\/|━|✘/im,
  read(lines) {
    const found: Diagnostic[] = []
    let [errors, warnings] = [0, 0]
    for (const [at, line] of lines.entries()) {
      if (!SEVERITY.test(line)) continue
      const diagnostic = diagnosticAt(lines, at)
      if (!diagnostic) continue
      if (diagnostic.severity === "error") errors++
      else warnings++
      if (diagnostic.severity === "error" && found.length < MAX_DIAGNOSTICS) found.push(diagnostic)
    }
    if (errors + warnings === 0) return undefined
    const tool = found[0]?.tool ?? "lint"
    const kind: CheckReport["kind"] =
      tool === "tsc" || tool === "mypy" ? "types" : /^(?:lint|biome)$/.test(tool) ? "lint" : "build"
    const sure = found.some((diagnostic) => diagnostic.sure)
    const failures = found.map(({ failure }) => failure)
    const verdict = errors > 0 ? "fail" : "pass"
    return { name: tool, kind, verdict, sure: errors > 0 && sure, counts: { errors, warnings }, failures }
  },
}

function diagnosticAt(lines: readonly string[], at: number): Diagnostic | undefined {
  const text = lines[at] ?? ""
  const make = (
    tool: string,
    sure: boolean,
    severity: string,
    file: string,
    row: string,
    message: string,
  ): Diagnostic => ({
    severity: /^w/i.test(severity) ? "warning" : "error",
    failure: {
      title: "",
      message: message.replace(/ \[[^\]]+proj\]$/, "").trim(),
      file: file.trim(),
      line: Number(row),
    },
    tool,
    sure,
  })
  const parens = PARENS.exec(text) ?? DASH.exec(text)
  if (parens) {
    const [, file = "", row = "", , severity = "", code = "", message = ""] = parens
    const tool = code.startsWith("TS") ? "tsc" : code === "" ? "pyright" : "compiler"
    return make(tool, code !== "", severity, file, row, code === "" ? message : `${code}: ${message}`)
  }
  const rust = /^(error|warning)(\[E\d+\])?: (.+)$/.exec(text)
  if (rust?.[1] && rust[3]) return rustAt(lines, at, rust[1], `${rust[3]}`)
  const colons = COLONS.exec(text)
  if (colons) {
    const [, file = "", row = "", , severity = "", message = ""] = colons
    const tool = /\.pyi?$/.test(file) ? "mypy" : /\.[jt]sx?$/.test(file) ? "lint" : "compiler"
    return /\s{2}|\/\/$/.test(file) ? undefined : make(tool, false, severity, file, row, message)
  }
  const go = GO.exec(text)
  if (go?.[1] && go[2] && go[4]) return make("go", Boolean(go[3]), "error", go[1], go[2], go[4])
  const code = CODE.exec(text)
  if (code?.[1] && code[2] && code[5]) return make("lint", true, "error", code[1], code[2], `${code[4]} ${code[5]}`)
  const kotlin = KOTLIN.exec(text)
  if (kotlin?.[1] && kotlin[2] && kotlin[4]) return make("compiler", true, text, kotlin[1], kotlin[2], kotlin[4])
  const maven = MAVEN.exec(text)
  if (maven?.[2] && maven[3] && maven[5]) return make("compiler", true, maven[1] ?? "", maven[2], maven[3], maven[5])
  const stylish = STYLISH.exec(text)
  if (stylish?.[1] && stylish[4]) {
    const file = fileAbove(lines, at)
    const message = stylish[5] ? `${stylish[4]} (${stylish[5]})` : stylish[4]
    return file === undefined ? undefined : make("lint", false, stylish[3] ?? "", file, stylish[1], message)
  }
  return titledAt(lines, at)
}

/** rustc and ruff's full format print the place on an arrow line below the message. */
function rustAt(lines: readonly string[], at: number, severity: string, message: string): Diagnostic | undefined {
  for (const below of lines.slice(at + 1, at + 4)) {
    const place = /^ *--> (.+?):(\d+):\d+$/.exec(below)
    if (!place?.[1]) continue
    const failure = { title: "", message, file: place[1], line: Number(place[2]) }
    return { severity: severity === "warning" ? "warning" : "error", failure, tool: "rustc", sure: true }
  }
  return undefined
}

/** Message and place on separate lines: biome (`a.ts:4:2 lint/x ━━━`), esbuild (`✘ [ERROR] message`), ruff (`F401 message`). */
function titledAt(lines: readonly string[], at: number): Diagnostic | undefined {
  const line = lines[at] ?? ""
  const biome =
    /^(\S+?)(?::(\d+):\d+)? ((?:lint\/|assist\/|suppressions\/|parse|format|organizeImports|ci)\S*)(?: +FIXABLE)? [━ ]*$/.exec(
      line,
    )
  if (biome?.[1]) {
    const detail = lines.slice(at + 1, at + 5).find((text) => /^ +[×✖!i] /.test(text))
    const severity = /^ +[!i] /.test(detail ?? "") ? "warning" : "error"
    const message = `${detail?.replace(/^ +\S /, "") ?? ""} (${biome[3]})`.trim()
    const place = biome[2] ? { line: Number(biome[2]) } : {}
    return { severity, failure: { title: "", message, file: biome[1], ...place }, tool: "biome", sure: true }
  }
  const esbuild = /^[✘X] \[(ERROR|WARNING)\] (.+)$/.exec(line)
  const ruff = /^([A-Z]{1,4}\d{3,4}) (?:\[\*\] )?(.+)$/.exec(line)
  const message = esbuild?.[2] ?? (ruff ? `${ruff[1]} ${ruff[2]}` : undefined)
  if (message === undefined) return undefined
  for (const below of lines.slice(at + 1, at + 4)) {
    const place = /^ +(?:--> )?(\S+?):(\d+):\d+:?$/.exec(below)
    if (!place?.[1]) continue
    const failure = { title: "", message, file: place[1], line: Number(place[2]) }
    const severity = esbuild?.[1] === "WARNING" ? "warning" : "error"
    return { severity, failure, tool: esbuild ? "esbuild" : "lint", sure: true }
  }
  return undefined
}

function fileAbove(lines: readonly string[], at: number): string | undefined {
  for (let above = at - 1; above >= 0 && above > at - 200; above--) {
    const text = lines[above] ?? ""
    if (/^\S*[\w/\\][\w./\\@-]*\.\w+$/.test(text)) return text
    if (!/^ /.test(text)) return undefined
  }
  return undefined
}
