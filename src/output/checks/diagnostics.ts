// The diagnostics that compilers, type checkers and linters print about places in the source. Whether the run as a whole passed
// is decided by `builds.ts` and the exit code.

import type { CheckFailure, CheckReport } from "./report.ts"

const MAX_DIAGNOSTICS = 50

/** The forms of a diagnostic, with the groups `file`, `line`, `message`, and where they have them, `severity` and `code`. */
const SURE: readonly RegExp[] = [
  // tsc, msbuild, MSVC: `src/a.ts(4,2): error TS2304: Cannot find name 'x'.`
  /^[ \t]*(?<file>[^\s("'`][^("'`\n]*)\((?<line>\d+)(?:,\d+)?\) ?: (?:fatal )?(?<severity>error|warning) (?<message>[A-Z]+\d+: .+)$/gm,
  // tsc pretty, pyright: `src/a.ts:4:2 - error TS2304: message`
  /^[ \t]*(?<file>\S[^:\n]*):(?<line>\d+):\d+ - (?<severity>error|warning):? (?<message>.+)$/gm,
  // with the place below: rustc and ty `error[E0308]: message`, ruff `F401 message`, esbuild `✘ [ERROR] message`
  /^(?:(?<severity>error|warning)(?:\[[\w-]+\])?: |(?=(?:[A-Z]{1,4}\d{3,4}|invalid-syntax:) \S)|[✘X] \[ERROR\] )(?<message>.+)\n(?:(?!error|warning).*\n){0,2}? +(?:--> |at )?(?<file>\S.*?):(?<line>\d+):\d+:?$/gm,
  // biome: `src/a.ts:4:2 lint/x ━━━` with the message below
  /^(?<file>\S+?)(?::(?<line>\d+):\d+)? (?<code>(?:lint\/|assist\/|suppressions\/|parse|format|organizeImports|ci)\S*)(?: +FIXABLE)? [━ ]*$(?:(?:\n.*){0,3}?\n +(?<severity>[×✖!⚠iℹ]) (?<message>.+))?/gm,
  // next, webpack, oxlint, shellcheck, swift testing
  /^(?:ERROR in )?(?<file>\.\/[^\s:]+)(?:[: ](?<line>\d+):[\d-]+)?\n(?<message>(?:Type error|Error|Module [\w ]+): .+)$/gm,
  /^ +[x×] (?<message>.+)\n +[,╭][-─]\[(?<file>\S.*?):(?<line>\d+):\d+\]$/gm,
  /^In (?<file>\S.*) line (?<line>\d+):\n.*\n *\^-*\^? (?<message>SC\d+ .+)$/gm,
  /^✘ Test .+ recorded an issue (?:with .+ )?at (?<file>[^\s:]+):(?<line>\d+):\d+: (?<message>.+)$/gm,
  // go build, go vet, staticcheck, golangci-lint, which gives what the compiler said of a package below a line about it
  /^(?:vet: )?(?<file>[\w@./\\~+\u00c0-\uffff-]+\.go):(?<line>\d+):\d+: (?<message>(?!could not import .*\(-: #).+)$/gm,
  // ruff concise, flake8, pylint, pycodestyle: `a.py:4:2: F401 message`
  /^(?<file>\S+\.(?:pyi?|ipynb)):(?<line>\d+):\d+: (?<message>[A-Z]{1,4}\d{2,5}:? .+)$/gm,
  // terraform, psql, rubocop
  /^(?:│ )?Error: (?<message>.+)\n(?:│? *\n)?(?:│ )? *on (?<file>\S+) line (?<line>\d+)/gm,
  /^psql:(?<file>\S+\.\w+):(?<line>\d+): ERROR: +(?<message>.+)$/gm,
  /^(?<file>\S+\.\w+):(?<line>\d+):\d+: [CFREW]: (?:\[Correctable\] )?(?<message>[A-Z]\w+\/\w+: .+)$/gm,
  // kotlinc, and javac or scalac under maven and sbt
  /^(?<severity>[ew]): (?:file:\/\/)?(?<file>\S+\.kts?):(?<line>\d+):\d+:? (?<message>.+)$/gm,
  /^\[(?<severity>ERROR|WARNING|error|warn)\] (?<file>\S+\.(?:java|kt|scala)):\[?(?<line>\d+)[,:]\d+(?:\]|:) (?<message>.+)$/gm,
  /^\[(?<severity>error|warn)\] -- (?<message>.+): (?<file>\S+\.scala):(?<line>\d+):\d+ -*$/gm,
]

/** Forms that a program may have logged. */
const UNSURE: readonly RegExp[] = [
  // gcc, javac, both in other languages too, clang, swiftc, mypy, oxlint, eslint unix, GHC (message below): `a.c:4:2: error: message`
  /^[ \t]*(?<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?<line>\d+):(?:\d+:)? (?:fatal |schwerwiegender |фатальная |致命的?)?(?<severity>error|warning|Fehler|erreur|ошибка|エラー|错误|錯誤)(?:\[\w+\])?(?: [\w@/()-]+)?(?:：|:(?: \[GHC-\d+\])?(?: |\n +(?:• )?))(?<message>.+)$/gim,
  /^(?:vet: )?(?<file>[\w@./\\~+\u00c0-\uffff-]+\.go):(?<line>\d+): (?<message>(?!: #).+)$/gm,
  // for GitHub Actions: biome, ruff, vitest
  /^::(?<severity>error|warning) (?=.*?\bfile=(?<file>[^\n,:]+))(?:.*?\bline=(?<line>\d+))?.*?::(?:\S+:\d+:\d+: )?(?<message>.+?)(?:%0A.*)?$/gm,
  // mypy of a whole file
  /^(?<file>\S+\.pyi?): error: (?<message>.+)$/gm,
  // eslint stylish, stylelint: the first error below its file's line
  /^(?<file>\S+\.\w+)\n(?: +\d+:\d+ +warning .*\n)* +(?<line>\d+):\d+ +(?<severity>error|✖) +(?<message>.+?)(?: {2,}\(?(?<code>[^\s()]+)\)?)?$/gm,
]

/** Ruff's mark of what it could fix, and the project that msbuild names after a message. */
const NOT_SAID = / \[\*\](?= )| \[[^\]]+proj(?:::[^\]]+)?\]$/

export function diagnosticsIn(text: string): CheckReport | undefined {
  const sure = diagnosticsOf(SURE, text)
  // a line may have two forms, of which the sure one counts
  const byPlace = new Map([...diagnosticsOf(UNSURE, text), ...sure].map((one) => [one.index, one]))
  // msbuild repeats all of them in its summary
  const byText = new Map([...byPlace.values()].map((one) => [one.text, one]))
  const all = [...byText.values()].sort((a, b) => a.index - b.index)
  const errors = all.filter(({ isError }) => isError)
  // Go's last line, with a place of its own, only says that there are more
  const named = errors.filter(({ failure }) => failure.message !== "too many errors")
  const failures = named.length > 0 ? named : errors
  if (all.length === 0) return undefined
  return {
    verdict: failures.length > 0 ? "fail" : "pass",
    sure: sure.some(({ isError }) => isError),
    counts: { errors: failures.length, warnings: all.length - errors.length },
    failures: failures.slice(0, MAX_DIAGNOSTICS).map(({ failure }) => failure),
  }
}

function diagnosticsOf(forms: readonly RegExp[], text: string) {
  return forms.flatMap((form) =>
    [...text.matchAll(form)].map(({ 0: found, index, groups = {} }) => {
      const { file = "", line, severity = "", message = "", code } = groups
      const words = message.replace(NOT_SAID, "").trim()
      const failure: CheckFailure = {
        title: "",
        message: code ? `${words} (${code})`.trim() : words,
        file: file.trim(),
        line: line ? Number(line) : undefined,
      }
      return { index, text: found.trim(), isError: !/^[wi!⚠ℹ]/i.test(severity), failure }
    }),
  )
}
