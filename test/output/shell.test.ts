import { expect, test } from "bun:test"
import { attemptOf, checksIn, covers, isMistyped } from "../../src/output/commands.ts"
import { isViewer, PROGRAMS } from "../../src/output/programs.ts"
import { programsOf } from "../../src/output/shell.ts"
import { type ToolKind, toolKindOf } from "../../src/output/tools.ts"

const ROWS: [command: string, programs: string][] = [
  ["npm test", "npm"],
  ["cd a && npm test 2>&1 | tail -20", "cd npm| tail"],
  ["FOO=1 BAR='x y' timeout 30 ./node_modules/.bin/tsc --noEmit", "tsc"],
  ["sudo -E env X=1 npx -y eslint .", "eslint"],
  ["uv run pytest -q; python3 -m mypy src", "pytest mypy"],
  [".venv/bin/python -m pytest -q", "pytest"],
  ["for f in a b; do cat $f; done", "cat"],
  ["if test -f x; then ls; fi", "test ls"],
  ["cat > a.sh <<'EOF'\nrm -rf /\nEOF\nbash a.sh", "cat bash"],
  [`cat > a.sh <<'EOF'\n${"echo a\n".repeat(900)}EOF\nbash a.sh`, "cat bash"],
  ["uv run --frozen pytest -q && poetry run -q mypy .", "pytest mypy"],
  ['echo "a; b | c" > out.txt', "echo"],
  ["cat > a.txt <<-EOF\n\ta\n\tEOF\nnpm test", "cat npm"],
  ["cat > a.txt <<EOF\nEOF is the end\nnpm test\nEOF\nmake", "cat make"],
  ["cat > a.cmake <<END\nENDIF()\nmake test\nEND\nctest", "cat ctest"],
  [
    `git commit -m "$(cat <<'EOF'\nfix: a 5" screen\n\n- npm test; build && "npm run lint"\nEOF\n)" && git push`,
    "git git",
  ],
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
      .map(({ name, next }) => (next === "|" ? `${name}|` : name))
      .join(" "),
  ).toBe(programs)
})

test.each([
  ["words", "x"],
  ["escapes", "\\n"],
  ["backslashes", "\\"],
  ["quotes", '\\"'],
  ["line breaks", "\n"],
  ["here documents", '"$(cat <<A\n'],
])("a quoted text of 2 MB of %s is read in two seconds", (_, text) => {
  for (const start of ['node -e "', '"$(cat <<A\n']) {
    const started = performance.now()
    programsOf(start + text.repeat(2_000_000 / text.length))
    expect(performance.now() - started).toBeLessThan(2000)
  }
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
  ["cd app && npm test 2>&1 | tail -20", "cd app && npm test"],
  ["cd /home/dev/shop && npm test", "npm test"],
  ["cd app && cd .. && npm test", "npm test"],
  ["cd app && npm test && cd ../web && npm test", "cd app && npm test && cd web && npm test"],
  ["npm run lint && npm test 2>&1 | tail -20", "npm run lint && npm test"],
  ["(cd app && npm test) && (cd web && npm test)", "cd app && npm test && cd web && npm test"],
  ["(cd app && (cd lib && make) && npm test); npm run lint", "npm run lint"],
  ["cd app && (cd lib && make) && npm test", "cd app/lib && make && cd app && npm test"],
  ["Set-Location -Path app; npm test", "cd app && npm test"],
  ["cd app && npm run build && cd - && npm test", "cd app && npm run build && npm test"],
  ["pushd app && npm run build && popd && npm test", "cd app && npm run build && npm test"],
  ["npm run lint && npm run format && npm test", "npm run lint && npm test"],
  ["npm run lint | tail -5 && npm test", "npm test"],
  ["npm run lint; npm test", "npm test"],
  ["type src\\a.ts", "type src\\a.ts"],
  [".\\gradlew.bat test", "gradlew test"],
  ["C:\\tools\\npm.cmd test", "npm test"],
  ["cd C:\\shop && npm test", "cd C:/shop && npm test"],
  ["npm run format\r\nnpm test\r\n", "npm test"],
  ["cat my\\ file.txt", "cat my file.txt"],
  ["cd /home/dev/other; ls", "cd /home/dev/other && ls"],
  ["cd /d C:\\shop && npm test", "cd C:/shop && npm test"],
  ["CI=1 FOO='a b' npm test", "npm test"],
  ["export CI=1 && npm test", "npm test"],
  ["timeout 60 npm test > out.log 2>&1", "npm test"],
  ["timeout -k 5 --foreground 60s npm test", "npm test"],
  ['timeout -s KILL "$LIMIT" nice -n 10 npm test', "npm test"],
  ["sudo -u ci env -u CI npm test", "npm test"],
  ["sudo -n stdbuf -oL npx cross-env CI=1 jest", "jest"],
  ["uvx ruff check", "ruff check"],
  ["uv run --with pytest-xdist --group dev pytest -q", "pytest -q"],
  ["npx -y -p typescript tsc --noEmit", "tsc --noEmit"],
  ["npm test; echo done", "npm test"],
  ['npm run check 2>&1 | grep -E "(error|success)"', "npm run check"],
  ["npm run format && npm run check", "npm run check"],
  ["npm run test -- login", "npm test -- login"],
  ["npm run -s test", "npm test"],
  ["npm t -- login", "npm test -- login"],
  ["pnpm run test:unit", "pnpm run test:unit"],
  ["bun run test", "bun run test"],
  ["npm run build; node dist/cli.js", "npm run build"],
  ["git add -A && git commit -m 'fix && test; more'", "git add -A && git commit -m fix && test; more"],
  ["python - <<'EOF'\nimport test\nEOF", "python -"],
  ["npx tsc --noEmit", "tsc --noEmit"],
  ["git log --oneline", "git log --oneline"],
  ["", ""],
  ["cd", "cd"],
])("%p has the key %p", (command, key) => expect(attemptOf(command, "/home/dev/shop").key).toBe(key))

test("each check of a command has a key of its own", () => {
  const checks = (command: string) =>
    attemptOf(command, "/home/dev/shop")
      .parts.filter(({ isCheck }) => isCheck)
      .map(({ key, hidesExit }) => ({ key, hidesExit }))
  const lint = { key: "npm run lint", hidesExit: true }
  const all = [
    { key: "cd app && npm run lint", hidesExit: false },
    { key: "tsc -b", hidesExit: false },
    { key: "npm test", hidesExit: false },
  ]
  const command = "cd app && npm run lint && cd .. && npx tsc -b && npm test"
  expect(checks(command)).toEqual(all)
  expect(checksIn(attemptOf(command, "/home/dev/shop").key)).toEqual(all.map(({ key }) => key))
  expect(checks("npm run lint | tail -5; npm test")).toEqual([lint, { key: "npm test", hidesExit: false }])
  expect(checks("npm run lint || npm test")).toEqual([lint, { key: "npm test", hidesExit: false }])
  expect(checks("git add .")).toEqual([])
})

test("the folder that a command was given is part of its key", () => {
  expect(attemptOf("npm test", "/").key).toBe("npm test")
  expect(attemptOf("npm test", "/home/dev/shop", "app").key).toBe("cd app && npm test")
  expect(attemptOf("npm test", "/home/dev/shop", "/home/dev/shop").key).toBe("npm test")
  expect(attemptOf("cd .. && npm test", "/home/dev/shop", "/home/dev/shop/app").key).toBe("npm test")
})

test.each([
  ["npm test", "npm test login", true],
  ["cd app && npm test", "cd app && npm test login", true],
  ["npm test login", "npm test", false],
  ["npm test", "npm tester", false],
  ["npm test", "cd app && npm test", false],
  // a default target says nothing about the others
  ["make", "make test", false],
  ["cd app && make -j4", "cd app && make -j4 test", false],
  ["make test", "make test FILTER=login", true],
  ["ninja", "ninja test", false],
  ["pytest -q", "pytest -q tests/login", true],
  ["go test ./...", "go test ./cart -run TestAdd", true],
  ["go test -race ./...", "go test ./cart", true],
  ["go test .", "go test ./cart", false],
  ["go test ./...", "go test ../cart", false],
  ["tsc -p .", "tsc -p web", false],
  ["go test", "go test ./...", false],
  ["go test ./...", "go test ./... -race", false],
  ["go test ./...", "go test ./a -race", false],
  ["go test -race ./...", "go test -race ./a", true],
  ["go test -race -tags=e2e ./...", "go test ./cart -run TestAdd", true],
  ["go test -race ./...", "go test -tags=e2e ./cart", false],
  ["go build -race ./...", "go build ./...", false],
  ["go test ./cart -run TestAdd", "go test ./cart -v -run TestAddsOne|TestAddsAll", true],
  ["go test ./cart -run TestAdd", "go test ./cart -run TestAdd|TestSum", false],
  ["go test ./...", "go test ./cart ./price/...", true],
  ["go test ./...", "go test ./cart ../price/...", false],
  ["go test -v ./...", "go test ./cart", true],
  ["pytest -q", "pytest tests/a.py::test_a -x --tb=short", true],
  ["cd api && pytest", "cd api && pytest -vv tests/a.py", true],
  ["pytest -q tests/b.py", "pytest tests/a.py", false],
  ["tsc -v", "tsc --noEmit", false],
  ["go test ./...", "go test ./cart/...", true],
  ["cargo clippy", "cargo clippy -- -D warnings", false],
  ["cargo clippy", "cargo clippy -- -Dwarnings", false],
  ["gcc a.c", "gcc a.c -Werror", false],
  ["mvn test", "mvn test -Dtest=Cart", true],
  ["cargo test", "cargo test --workspace --locked", false],
  ["eslint .", "eslint . --max-warnings=0", false],
  ["npm test", "npm test -- --coverage", false],
  ["jest", "jest --testNamePattern all", true],
  ["golangci-lint run ./cart/... ./user/...", "golangci-lint run ./cart/...", true],
  ["go test ./cart ./user", "go test ./cart", true],
  ["go test ./cart -run TestAdd", "go test ./cart", false],
  ["npm test tests/login.ts", "npm test", false],
  ["jest --config web/jest.js tests/a.ts", "jest --config web/jest.js", false],
  ["eslint src", "eslint src/a.ts", true],
  ["eslint .", "eslint src/a.ts", true],
  ["ruff check .", "ruff check src", true],
  ["docker build .", "docker build web", false],
  ["pytest tests/", "pytest tests", true],
  ["pytest tests/a.py", "pytest tests/a.py::test_a -x", true],
  ["pytest tests", "pytest tests/a.py -k total", true],
  ["pytest tests/a.py", "pytest tests/a.py tests/b.py", false],
  ["pytest tests/a.py", "pytest tests/a.pyx", false],
  ["go test ./...", "go test -run TestAdd ./cart", true],
  ["go test ./cart", "go test ./cart/...", false],
  ["go test -count=1 ./...", "go test ./...", true],
  ["go test ./... -timeout=180s", "go test ./cart/ -timeout 60s", true],
  ["bun test --timeout 5000", "bun test --timeout=60000", true],
  ["jest --verbose", "jest", true],
  ["vitest run --reporter=dot", "vitest run src/a.test.ts", true],
  ["npm test -- tests/a.ts", "npm test tests/a.ts", true],
  ["npm run lint -- --fix", "npm run lint", true],
  ["eslint src --fix", "eslint src", true],
  ["npm test", "npm test -w web", false],
  ["bun test", "bun run test", false],
  ["cargo test", "cargo test --release", false],
  ["make -j4 all", "make all", true],
  ["make", "make -C web", false],
  ["mix compile", "mix compile --warnings-as-errors", false],
  ["dotnet build", "dotnet build -c Release", false],
  ["cargo test", "cargo test --no-default-features", false],
  ["cargo build", "cargo build --target wasm32-unknown-unknown", false],
  ["cmake --build build", "cmake --build build --target unit-tests", true],
  ["zig build", "zig build test", false],
  ["dune build", "dune build @runtest", false],
  ["rspec spec/cart_spec.rb", "rspec spec/cart_spec.rb:12", true],
  ["rspec spec/cart", "rspec spec/cart:12", true],
  ["bun run test", "bun run test:unit", false],
  ["npm run test", "npm run test:18", false],
  ["rubocop -x", "rubocop", false],
  ["bazel test //...", "bazel test //cart:cart_test", true],
  ["gradlew test --console=plain", "gradlew :cart:test --tests Cart", true],
  ["gradlew :cart:test", "gradlew :user:test", false],
  ["gradlew :cart:test", "gradlew test", false],
  ["gradlew build -x test", "gradlew build", false],
  ["ctest --test-dir build --output-on-failure -j8", "ctest --test-dir build -R cart", true],
  ["mvn -q test", "mvn test", true],
  ["rubocop -A", "rubocop", true],
  // an option of a compiler or a linter makes it check something else, or more
  ["tsc --noEmit", "tsc --noEmit -p web", false],
  ["tsc --noEmit", "tsc --noEmit --noUnusedLocals", false],
  ["ruff check .", "ruff check . --select I", false],
  ["npm run build", "npm run build -- --mode production", false],
  ["vitest run", "vitest run --config vitest.e2e.ts", false],
  ["vitest run", "vitest run -t sums", true],
  // but not these
  ["tsc", "tsc --noEmit --skipLibCheck", true],
  ["tsc --noEmit", "tsc --noEmit --skipLibCheck", true],
  ["tsc --noEmit -p .", "tsc --noEmit -p .", true],
  ["go build -o shop ./cmd/shop", "go build -o shop ./cmd/shop", true],
  ["tsc --noEmit --skipLibCheck", "tsc --noEmit", false],
  ["go build ./...", "go build -o shop ./cmd/shop", true],
  ["biome check --write .", "biome check .", true],
  ["jest -u", "jest", true],
  ["npm test -- --update", "npm test", true],
  ["cargo test -- --nocapture", "cargo test", true],
  ["bun test test/a.test.ts", "bun test ./test/a.test.ts", true],
  ["bun test ./lib", "bun test lib/a.test.ts", true],
  ["go test cart", "go test ./cart", false],
  ["pytest тесты", "pytest тесты/test_a.py", true],
  ["pytest 测试", "pytest 测试2/a.py", false],
])("a passing %p settles %p: %p", (run, other, expected) => expect(covers(run, other)).toBe(expected))

test.each([
  ["npm test", false],
  ["npm test && echo passed", false],
  ["cat list | head; npm test;", false],
  ["set -e\nnpm test\necho passed", false],
  ["(cd app && npm test)\n", false],
  ["npm test 2>&1 | tail", true],
  ['bash -lc "npm test && echo passed"', false],
  ['bash -lc "npm test | tail"', true],
  ["docker compose exec app /bin/sh -c 'npm test; echo done'", true],
  ["ssh build 'cd /srv && npm test | tail -5'", true],
  ["jest -t 'a | b'", false],
  ["npm test; echo $?", true],
  ["npm test || true", true],
  ["npm test > out.log 2>&1 &", true],
  ["npm test &\nsleep 5", true],
  ["(cd app; npm test) | tail", true],
  ["for app in a b; do npm test; done | tail", true],
  ["if npm test; then echo passed; fi", true],
  ["if npm test; then echo passed; else echo failed; fi", true],
  ["if [ -f tsconfig.json ]; then npx tsc; fi", true],
  ["for app in a b; do (cd $app && npm test); done", true],
  ["if [ ! -d node_modules ]; then npm ci; fi; npm test", false],
  ["{ npm run lint && npm test; }", false],
  ["set -e; npm test | tail", true],
])("%p hides the exit code of what it runs: %p", (command, expected) =>
  expect(attemptOf(command).hidesExit).toBe(expected),
)

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
  "docker compose run app npm test",
  "cargo nextest run",
  "dotnet build",
  "swift test --filter Cart",
  "npm run e2e",
  "rubocop -a",
  "pre-commit run --all-files",
  "bats test/",
  "vendor/bin/pest --parallel",
  "mix credo --strict",
  "flutter analyze",
  "terraform validate",
  "terraform -chdir=infra validate",
  "npx markdownlint-cli2 '**/*.md'",
  "npx knip",
  "docker build -t shop .",
  "prettier --check .",
  "bash -c 'npm test'",
  "node -c test.js",
])("%s checks the project", (command) => expect(attemptOf(command).isCheck).toBe(true))
test.each([
  ...["cat test.log", "ls src", "git status", "node server.js", "grep -rn test src"],
  ...["git-lfs test", "bat test.log", "chmod +x test.sh", "nl build.log"],
  ...[
    "npm i -D vitest",
    "uv pip install pytest",
    "yarn global add vitest",
    "apt-get -y install cmake",
    "tar czf build.tar.gz src",
    'echo "npm test"',
    "test -f build.gradle",
    "docker logs test-db",
    "dotnet run",
    "dotnet add package Serilog",
    "swift run shop",
    `node -e "import('./dist/build.js')"`,
    "python3 -c 'import test'",
    "psql -d test -c 'select 1'",
    "sqlite3 test.db .tables",
    "kubectl logs test-pod",
    "gofmt -w cart_test.go",
    "prettier --write src/cart.test.ts",
  ],
])("%s does not", (command) => expect(attemptOf(command).isCheck).toBe(false))

test.each([
  ["tsc --noEmit", "'tsc' is not recognized as an internal or external command,", true],
  ["tsc --noEmit", "tsc : The term 'tsc' is not recognized as the name of a cmdlet, function, script file,", true],
  ["npm run lint", "'eslint' is not recognized as an internal or external command,", false],
  ["tsc --noEmit", "tsc: command not found", true],
  ["tsc --noEmit", "exit code 127: tsc: Kommando nicht gefunden.", true],
  ["tsc --noEmit", "exit code 127: tsc\u00a0: commande introuvable", true],
  ["tsc --noEmit", "exit code 127: tsc：指令找不到", true],
  ["npm run lint", "exit code 127: eslint: Kommando nicht gefunden.", false],
  ["make test", "exit code 2: make: *** Keine Regel, um „test“ zu erstellen. Schluss.", true],
  ["make test", "exit code 2: make: *** Keine Regel, um „a.c“ zu erstellen. Schluss.", false],
])("of %p the failure %j says that the program is not there: %p", (command, failure, expected) =>
  expect(isMistyped(command, failure)).toBe(expected),
)

test.each([
  ["bash", "command"],
  ["constructor", "other"],
  ["websearch_web_search_exa", "web"],
  ["github_search_issues", "search"],
  ["search_replace", "edit"],
  ["filesystem_read_text_file", "read"],
  ["filesystem_edit_file", "edit"],
  ["filesystem_write_file", "write"],
  ["filesystem_read_multiple_files", "read"],
  ["serena_create_text_file", "write"],
  ["jetbrains_get_file_text_by_path", "read"],
  ["jetbrains_create_new_file", "write"],
  ["jetbrains_replace_text_in_file", "edit"],
  ["repomix_read_repomix_output", "other"],
  ["serena_insert_after_symbol", "edit"],
  ["serena_execute_shell_command", "command"],
  ["desktop-commander_edit_block", "edit"],
  ["github_create_or_update_file", "other"],
  ["linear_create_issue", "other"],
  ["use_skill", "skill"],
  ["question", "question"],
  ["feedback_interactive_feedback", "question"],
  ["interactive_request_user_input", "question"],
  ["ask_user_question", "question"],
  ["submit_plan", "question"],
  ["crm_list_user_inputs", "other"],
])("the kind of %s is %s", (tool, kind) => expect(toolKindOf(tool)).toBe(kind as ToolKind))
