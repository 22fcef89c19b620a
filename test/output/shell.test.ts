import { expect, test } from "bun:test"
import { programsOf } from "../../src/output/shell.ts"

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
