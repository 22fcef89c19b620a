import { expect, test } from "bun:test"
import { commandKey, covers, isCheck } from "../../src/output/commands.ts"
import { isViewer, PROGRAMS } from "../../src/output/programs.ts"
import { programsOf } from "../../src/output/shell.ts"
import { toolKindOf } from "../../src/output/tools.ts"

const ROWS: [command: string, programs: string][] = [
  ["npm test", "npm"],
  ["cd a && npm test 2>&1 | tail -20", "cd npm| tail"],
  ["FOO=1 BAR='x y' timeout 30 ./node_modules/.bin/tsc --noEmit", "tsc"],
  ["sudo -E env X=1 npx -y eslint .", "eslint"],
  ["uv run pytest -q; python3 -m mypy src", "pytest mypy"],
  ["for f in a b; do cat $f; done", "cat"],
  ["if test -f x; then ls; fi", "test ls"],
  ["cat > a.sh <<'EOF'\nrm -rf /\nEOF\nbash a.sh", "cat bash"],
  ['echo "a; b | c" > out.txt', "echo"],
  ["echo $(git log | head -1) # and | more", "echo"],
  ["(cd a; make) || echo failed", "cd make echo"],
  ["make &> log.txt &\ntail log.txt", "make tail"],
  ["command -v deno", "command"],
  ['grep foo <<< "$x"', "grep"],
  ["", ""],
  ["'unclosed", "unclosed"],
]

test.each(ROWS)("`%s` runs %s", (command, programs) => {
  expect(
    programsOf(command)
      .map(({ name, piped }) => (piped ? `${name}|` : name))
      .join(" "),
  ).toBe(programs)
})

test("the table of programs has every program once", () => {
  const names = PROGRAMS.flatMap(([names]) => names.split(" "))
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test.each([
  ["cat build.log | grep error", true],
  ["cd app && ls", true],
  ["git -C app log", true],
  ["git push", false],
  ["cat urls | xargs curl", true],
  ["npm test", false],
  ["curl localhost", false],
])("`%s` runs only viewers: %p", (command, expected) => expect(programsOf(command).every(isViewer)).toBe(expected))

test.each([
  ["cd app && npm test 2>&1 | tail -20", "npm test"],
  ["CI=1 FOO='a b' npm test", "npm test"],
  ["export CI=1 && npm test", "npm test"],
  ["timeout 60 npm test > out.log 2>&1", "npm test"],
  ["npm test; echo done", "npm test"],
  ['npm run check 2>&1 | grep -E "(error|success)"', "npm run check"],
  ["npm run format && npm run check", "npm run check"],
  ["npm run build; node dist/cli.js", "npm run build"],
  ["git add -A && git commit -m 'fix && test; more'", "git add -A && git commit -m fix && test; more"],
  ["python - <<'EOF'\nimport test\nEOF", "python -"],
  ["npx tsc --noEmit", "tsc --noEmit"],
  ["git log --oneline", "git log --oneline"],
  ["", ""],
  ["cd", "cd"],
])("%p has the key %p", (command, key) => expect(commandKey(command)).toBe(key))

test("a run covers the same run with further restrictions", () => {
  expect(covers("npm test", "npm test login")).toBe(true)
  expect(covers("npm test login", "npm test")).toBe(false)
  expect(covers("npm test", "npm tester")).toBe(false)
})

test.each([
  "npm test",
  "npx tsc --noEmit",
  "cargo build",
  "./gradlew check",
  "python -m pytest -q",
  "make",
  "sh test.sh",
  "./run_tests.sh",
  "node --test",
  "oxlint .",
])("%s checks the project", (command) => expect(isCheck(command)).toBe(true))
test.each([
  ...["cat test.log", "ls src", "git status", "node server.js", "grep -rn test src"],
  ...["git-lfs test", "bat test.log", "chmod +x test.sh", "nl build.log"],
])("%s does not", (command) => expect(isCheck(command)).toBe(false))

test("the kind of an unknown tool follows from the words in its name", () => {
  expect(
    ["bash", "websearch_web_search_exa", "github_search_issues", "context7_resolve-library-id", "constructor"].map(
      toolKindOf,
    ),
  ).toEqual(["command", "web", "search", "other", "other"])
})
