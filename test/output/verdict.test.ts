import { expect, test } from "bun:test"
import { verdictOf } from "../../src/output/verdict.ts"
import * as js from "../digest/extract/fixtures/javascript.ts"
import * as sys from "../digest/extract/fixtures/systems.ts"

/** The outcome of a command, without the report it rests on. */
function command(text: string, output: string, exit?: number) {
  const source = { tool: "bash", kind: "command", input: { command: text }, output } as const
  const { report: _, tests: __, ...outcome } = verdictOf({ ...source, ...(exit === undefined ? {} : { exit }) })
  return outcome
}

const FAILS: [name: string, command: string, output: string, failure: string | RegExp][] = [
  ["jest", "npm test", js.jestFail, "src/login.test.ts:42 expected 200, got 401 (login › rejects a bad password)"],
  ["jest, broken suite", "npx jest", js.jestBroken, /Cannot find module '\.\/session'/],
  [
    "vitest",
    "npx vitest run",
    js.vitestFail,
    /^2 failed: src\/parse\.test\.ts:8 parse > handles empty: expected undefined .*; src\/parse\.test\.ts:12 parse > keeps comments: /,
  ],
  [
    "mocha, outside of a suite",
    "npx mocha",
    "\n\n  1) sums\n  \u2714 ok\n\n  1 passing (4ms)\n  1 failing\n\n  1) sums:\n     Error: Timeout of 2000ms exceeded.\n      at listOnTimeout (node:internal/timers:581:17)\n\n\n",
    "sums: Timeout of 2000ms exceeded.",
  ],
  [
    "ava",
    "npx ava",
    "\n  ✔ adds\n  ✘ [fail]: sums\n  ─\n\n  sums\n\n  av/f.js:3\n\n   3: test('sums')\n\n  Difference (- actual, + expected):\n\n  - 1\n  + 2\n\n  › av/f.js:3:18\n\n  ─\n\n  1 test failed\n",
    "av/f.js:3 sums",
  ],
  [
    "bun test, a test that takes too long",
    "bun test",
    "\na.test.ts:\n(fail) loads [300.43ms]\n  ^ this test timed out after 300ms.\n\n 0 pass\n 1 fail\nRan 1 test across 1 file. [306.00ms]\n",
    "loads: this test timed out after 300ms.",
  ],
  [
    "pytest, interrupted",
    "pytest -q | tail -3",
    "/r/test_a.py:3: KeyboardInterrupt\n(to show a full traceback on KeyboardInterrupt use --full-trace)\n1 passed in 3.03s\n",
    "/r/test_a.py:3 KeyboardInterrupt",
  ],
  ["bun test", "bun test", js.bunFail, /src\/login\.test\.ts:39 expected 200, got 401/],
  ["mocha", "npx mocha", js.mochaFail, /test\/login\.test\.js:42 .*rejects a bad password/],
  [
    "node:test",
    "node --test",
    js.nodeSpecFail,
    /test\/login\.test\.js:42 .*expected 200, got 401|test\/login\.test\.js:42/,
  ],
  ["TAP", "node --test", js.tapFail, /test\/login\.test\.js:42 status should be 200/],
  [
    "playwright",
    "npx playwright test",
    js.playwrightFail,
    /e2e\/login\.spec\.ts:45 expected "Wrong password", got "Server error"/,
  ],
  ["tsc", "npx tsc --noEmit", js.tscFail, /^src\/auth\/login\.ts:42 TS2322: Type 'string' .* \(2 errors\)$/],
  [
    "tsc, pretty",
    "tsc -p .",
    js.tscPretty,
    "src/auth/login.ts:42 TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  ["eslint", "npx eslint .", js.eslintFail, /src\/auth\/login\.ts:42 Unexpected console statement \(no-console\)/],
  ["biome", "npx biome check", js.biomeFail, /^src\/auth\/login\.ts:42 Using == may be unsafe/],
  [
    "biome, with the signs of a terminal",
    "npx biome ci",
    "a.js:1:7 lint/correctness/noUnusedVariables  FIXABLE  ━━━━━\n\n  ⚠ This variable a is unused.\n\nb.js:2:7 lint/suspicious/noDoubleEquals ━━━━━\n\n  ✖ Using == may be unsafe.\n\nChecked 2 files in 4ms. No fixes applied.\nFound 1 error.\nFound 1 warning.\n",
    "b.js:2 Using == may be unsafe. (lint/suspicious/noDoubleEquals)",
  ],
  [
    "ruff, for GitHub Actions",
    "ruff check --output-format=github",
    "::error title=ruff (F401),file=/r/a.py,line=4,col=8,endLine=4,endColumn=10::a.py:4:8: F401 `os` imported but unused%0A  help: Remove it\n",
    "/r/a.py:4 F401 `os` imported but unused",
  ],
  [
    "vitest, for GitHub Actions",
    "npx vitest run --reporter=github-actions",
    "\n::error file=/r/a.test.ts,title=a.test.ts > cart > sums,line=2,column=61::AssertionError: expected 1 to be 2%0A%0A- Expected%0A+ Received\n",
    "/r/a.test.ts:2 AssertionError: expected 1 to be 2",
  ],
  [
    "mypy, a file that is not there",
    "mypy app",
    "app/a.py: error: Cannot read file: No such file or directory\nFound 1 error in 1 file (errors prevented further checking)\n",
    "app/a.py Cannot read file: No such file or directory",
  ],
  [
    "yamllint",
    "yamllint a.yml",
    'a.yml\n  1:1       warning  missing document start "---"  (document-start)\n  2:5       error    too many spaces after colon  (colons)\n\n',
    "a.yml:2 too many spaces after colon (colons)",
  ],
  [
    "black",
    "black --check .",
    "would reformat /r/a.py\n\nOh no!\n1 file would be reformatted.\n",
    "would reformat /r/a.py",
  ],
  [
    "pytest that deselects all tests",
    "pytest -k nothing",
    "collected 8 items / 8 deselected / 0 selected\n\n======== 8 deselected in 0.09s ========\n",
    "8 deselected in 0.09s",
  ],
  [
    "terraform",
    "terraform -chdir=infra plan",
    '╷\n│ Error: Unsupported block type\n│ \n│   on main.tf line 4:\n│    4: foo {}\n│ \n│ Blocks of type "foo" are not expected here.\n╵\n',
    "main.tf:4 Unsupported block type",
  ],
  [
    "bun that bails out",
    "bun test --bail",
    "a.test.ts:\nerror: no price\n      at <anonymous> (/r/a.test.ts:2:57)\n(fail) sums [0.41ms]\nRan 1 test across 1 file. [29.00ms]\nBailed out after 1 failure\n",
    "/r/a.test.ts:2 no price (sums)",
  ],
  [
    "bun, filtered",
    "bun test 2>&1 | grep -E 'pass|fail'",
    "(fail) cart > sums [0.21ms]\n(pass) cart > ok [0.02ms]\n 1 pass\n 1 fail\n",
    "cart > sums",
  ],
  [
    "a test that reached no server",
    "bun test",
    "a.test.ts:\nerror: connect ECONNREFUSED db.local:5432\n      at <anonymous> (/r/a.test.ts:2:57)\n(fail) sums [0.41ms]\n\n 0 pass\n 1 fail\nRan 1 test across 1 file. [29.00ms]\n",
    "/r/a.test.ts:2 connect ECONNREFUSED db.local:5432 (sums)",
  ],
  ["npm, only its own words", "npm run check 2>&1 | tail -4", js.npmTail, "npm error command sh -c tsc --noEmit"],
  ["vite", "npm run build", js.viteFail, /./],
  ["pytest", "pytest", sys.pytestFail, "tests/test_login.py:42 assert 401 == 200 (test_rejects_bad_password)"],
  ["unittest", "python3 -m unittest", sys.unittestFail, /tests\/test_login\.py:42 401 != 200 \(test_rejects\)/],
  [
    "a panic of Go",
    "go test ./...",
    "panic: boom\n\ngoroutine 1 [running]:\nx.F()\n\t/w/a.go:3 +0x1\nFAIL\tx\t0.003s\nFAIL\n",
    "/w/a.go:3 panic: boom",
  ],
  [
    "a build of Go as JSON",
    "go test -json ./...",
    '{"ImportPath":"x [x.test]","Action":"build-output","Output":"./a_test.go:5:2: undefined: foo\\n"}\n{"Time":"2026-01-01T00:00:00Z","Action":"output","Package":"x","Output":"FAIL\\tx [build failed]\\n"}\n',
    "a_test.go:5 undefined: foo",
  ],
  [
    "rustc in a folder with a blank",
    "cargo build",
    "error[E0308]: mismatched types\n --> /home/dev/my shop/src/main.rs:2:5\n\nerror: could not compile `shop`\n",
    "/home/dev/my shop/src/main.rs:2 mismatched types",
  ],
  ["go test", "go test ./...", sys.goFail, "login_test.go:42 expected 200, got 401 (TestLogin/rejects_bad_password)"],
  ["go test -v", "go test -v ./...", sys.goVerboseFail, "login_test.go:42 expected 200, got 401 (TestLogin/rejects)"],
  ["go test -json", "go test -json ./...", sys.goJsonFail, "login_test.go:42 expected 200, got 401 (TestLogin)"],
  ["go build", "go build ./...", sys.goBuildFail, "auth/login.go:42 undefined: sesion (2 errors)"],
  [
    "go test, a folder that is not there",
    "go test ./nope/...",
    "# ./nope/...\npattern ./nope/...: lstat ./nope/: no such file or directory\nFAIL\t./nope/... [setup failed]\nFAIL\n",
    "pattern ./nope/...: lstat ./nope/: no such file or directory",
  ],
  [
    "go build, that stops behind some errors",
    "go build ./...",
    "# shop\n./a.go:3:2: undefined: u0\n./a.go:4:2: undefined: u1\n./a.go:4:2: too many errors\n",
    "a.go:3 undefined: u0 (2 errors)",
  ],
  [
    "go build, the end of its errors",
    "go build ./... 2>&1 | tail -1",
    "./a.go:4:2: too many errors\n",
    "a.go:4 too many errors",
  ],
  ["go test that does not build", "go test ./...", sys.goTestUnbuilt, /auth\/login_test\.go:12 undefined: newServer/],
  [
    "go test, what it logged before it failed",
    "go test ./...",
    "--- FAIL: TestResume (0.53s)\n    hooks.go:155: Hook output: 14:11:15 INFO component=hooks\n        Captured state: 0 files\n    resume_test.go:164: resume failed: exit status 1\n        Output: Switched to branch\n    resume_test.go:170: cleaned up\nFAIL\nFAIL\tshop/cli\t12.663s\nFAIL\n",
    "resume_test.go:164 resume failed: exit status 1 (TestResume)",
  ],
  [
    "go test -fuzz",
    "go test -fuzz FuzzPrice ./cart",
    "--- FAIL: FuzzPrice (0.05s)\n    --- FAIL: FuzzPrice (0.00s)\n        cart_test.go:7: price is too big\n    \nFAIL\nexit status 1\nFAIL\tshop/cart\t0.074s\n",
    "cart_test.go:7 price is too big (FuzzPrice)",
  ],
  [
    "go test -v, of which tail left the end",
    "go test -v -run TestRank ./... | tail -4",
    "    a_test.go:24: store ranked 2 below test at 1\n--- FAIL: TestRank (0.07s)\n=== RUN   TestOther\n    a_test.go:40: got there\n--- PASS: TestOther (0.01s)\nFAIL\nFAIL\tshop/cli\t0.671s\nFAIL\n",
    "a_test.go:24 store ranked 2 below test at 1 (TestRank)",
  ],
  [
    "go test, where no line says that it failed",
    "go test ./...",
    "--- FAIL: TestRebase (0.59s)\n    a_test.go:277: Initial HEAD: e11f237\n    a_test.go:330: the branch is gone\nFAIL\nFAIL\tshop/cli\t2.078s\n",
    "a_test.go:330 the branch is gone (TestRebase)",
  ],
  [
    "testify, behind a log",
    "go test ./...",
    "--- FAIL: TestA (0.59s)\n    a_test.go:27: starting\n    a_test.go:30: \n        \tError Trace:\t/app/a_test.go:30\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\nFAIL\nFAIL\tshop\t2.078s\n",
    "a_test.go:30 expected 1, got 2 (TestA)",
  ],
  [
    "vitest, above a long page",
    "npm test",
    ` FAIL  ui/cart.test.tsx > Cart > shows the total\nTestingLibraryElementError: Unable to find an element with the text: 12.00\n\n${'<div class="row">\n'.repeat(1200)}\n Test Files  1 failed (1)\n      Tests  1 failed | 6 passed (7)\n`,
    /^ui\/cart\.test\.tsx .*Unable to find an element with the text: 12\.00/,
  ],
  ["cargo test", "cargo test", sys.cargoTestFail, "src/login.rs:42 expected 200, got 401 (login::tests::rejects)"],
  ["nextest", "cargo nextest run", sys.nextestFail, "src/login.rs:42 wrong status (login::tests::rejects)"],
  ["rustc", "cargo build", sys.rustcFail, "src/login.rs:42 mismatched types"],
  ["surefire", "mvn test", sys.surefireFail, "LoginTest.java:42 expected: <200> but was: <401> (LoginTest.rejects)"],
  ["maven", "mvn compile", sys.mavenCompileFail, /Login\.java:42 cannot find symbol/],
  [
    "gradle",
    "./gradlew test",
    sys.gradleFail,
    "LoginTest.java:42 expected: <200> but was: <401> (LoginTest > rejects())",
  ],
  ["javac", "javac src/Login.java", sys.javacFail, "src/Login.java:42 ';' expected"],
  [
    "rspec",
    "bundle exec rspec",
    sys.rspecFail,
    "spec/login_spec.rb:42 expected 200, got 401 (Login rejects a bad password)",
  ],
  [
    "minitest",
    "ruby test/login_test.rb",
    sys.minitestFail,
    "test/login_test.rb:42 expected 200, got 401 (LoginTest#test_rejects)",
  ],
  [
    "phpunit",
    "vendor/bin/phpunit",
    sys.phpunitFail,
    /tests\/LoginTest\.php:42 Failed asserting that 401 matches expected 200\./,
  ],
  ["dotnet test", "dotnet test", sys.dotnetFail, /LoginTests\.cs:42 expected 200, got 401 \(LoginTests\.Rejects\)/],
  ["dotnet build", "dotnet build", sys.csharpFail, /Login\.cs:42 CS1002: ; expected/],
  ["gtest", "./build/tests", sys.gtestFail, /login_test\.cc:42 .*LoginTest\.Rejects/],
  ["ctest", "ctest", sys.ctestFail, "login"],
  ["gcc under make", "make", sys.gccFail, "src/login.c:42 'sesion' undeclared (first use in this function)"],
  [
    "gcc in German",
    "make",
    "a.c:3:5: Fehler: »x« nicht deklariert\n    3 |     x = 1;\na.c:3:5: Anmerkung: nur einmal gemeldet\nmake: *** [Makefile:2: a.o] Fehler 1\n",
    "a.c:3 »x« nicht deklariert",
  ],
  ["gcc in Chinese", "make", "a.c:3:5: 错误：‘x’未声明\nmake: *** [Makefile:2：a.o] 错误 1\n", "a.c:3 ‘x’未声明"],
  ["make in Russian", "make", "cc a.c\nmake: *** [Makefile:2: a.o] Ошибка 1\n", "make: *** [Makefile:2: a.o] Ошибка 1"],
  [
    "javac in Japanese",
    "javac A.java",
    "A.java:3: エラー: シンボルを見つけられません\n    foo();\n    ^\nエラー1個\n",
    "A.java:3 シンボルを見つけられません",
  ],
  [
    "surefire, names in Japanese",
    "mvn test",
    "[ERROR] shop.注文Test.正常系 -- Time elapsed: 0.01 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n\tat shop.注文Test.正常系(注文Test.java:12)\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n",
    "注文Test.java:12 expected: <1> but was: <2> (注文Test.正常系)",
  ],
  [
    "cargo, a file with an umlaut",
    "cargo test",
    "test größe::passt ... FAILED\n\n---- größe::passt stdout ----\nthread 'größe::passt' panicked at src/größe.rs:5:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n\ntest result: FAILED. 0 passed; 1 failed\n",
    "src/größe.rs:5 expected 2, got 1 (größe::passt)",
  ],
  [
    "go build, a file with an umlaut",
    "go build ./...",
    "# shop\n./größe.go:5:2: undefined: foo\n",
    "größe.go:5 undefined: foo",
  ],
  ["a linker", "make", sys.linkFail, /undefined reference to `hash_password'/],
  ["ruff", "ruff check .", sys.ruffFail, "src/login.py:3 F401 `os` imported but unused"],
  ["ruff, full form", "uv run ruff check", sys.ruffFull, "src/login.py:3 F401 `os` imported but unused"],
  ["mypy", "mypy src", sys.mypyFail, /^src\/login\.py:42 Incompatible return value type/],
  ["deno test", "deno test", sys.denoFail, /login_test\.ts:42|rejects/],
  ["ExUnit", "mix test", sys.exunitFail, /test\/login_test\.exs:42 expected 200, got 401/],
  [
    "ExUnit, one test",
    "mix test test/a_test.exs:5",
    "  1) test rejects (LoginTest)\n     test/a_test.exs:5\n     Assertion with == failed\n     left:  401\n     right: 200\n\n1 test, 1 failure\n",
    "test/a_test.exs:5 expected 200, got 401 (test rejects (LoginTest))",
  ],
  [
    "jasmine",
    "npx jasmine",
    "Failures:\n1) cart adds\n  Message:\n    Expected 1 to be 2.\n\n2 specs, 1 failure\n",
    /^cart adds: .*Expected 1 to be 2\.$/,
  ],
  ["swift test, without XCTest", "swift test", sys.swiftFail, "CartTests.swift:6 Expectation failed: (1 → 1) == 2"],
  [
    "the last line of swift test",
    "swift test",
    sys.swiftFail.split("\n").slice(-2).join("\n"),
    "✘ Test run with 1 test failed after 0.001 seconds with 1 issue.",
  ],
  [
    "vitest, an error between tests",
    "npx vitest run",
    " ✓ v/c.test.js (1 test) 63ms\n\n⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯\n\nVitest caught 1 unhandled error during the test run.\nThis might cause false positive tests. Resolve unhandled errors to make sure your tests are not affected.\n\n⎯⎯⎯⎯⎯ Uncaught Exception ⎯⎯⎯⎯⎯\nError: late one\n ❯ Timeout._onTimeout v/c.test.js:2:52\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n",
    "Error: late one",
  ],
  [
    "vitest without tests",
    "npx vitest run foo",
    " RUN  v3.0.0 /r\n\nNo test files found, exiting with code 1\n\nfilter: foo\nexclude:  **/node_modules/**\n",
    "No test files found, exiting with code 1",
  ],
  [
    "prettier that cannot read a file",
    "npx prettier --check .",
    "Checking formatting...\n[error] e/p.js: SyntaxError: Unexpected token (2:1)\n[error]   1 | const  y = (\nError occurred when checking code style in the above file.\n",
    "[error] e/p.js: SyntaxError: Unexpected token (2:1)",
  ],
  [
    "coverage of jest",
    "npx jest --coverage",
    'Jest: "global" coverage threshold for statements (80%) not met: 50%\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nRan all test suites.\n',
    'Jest: "global" coverage threshold for statements (80%) not met: 50%',
  ],
  [
    "coverage of vitest",
    "npx vitest run --coverage",
    "      Tests  3 passed (3)\n\nERROR: Coverage for lines (50%) does not meet global threshold (80%)\n",
    "ERROR: Coverage for lines (50%) does not meet global threshold (80%)",
  ],
  [
    "coverage of pytest",
    "pytest --cov",
    "FAIL Required test coverage of 80% not reached. Total coverage: 50.00%\n=== 3 passed in 0.12s ===\n",
    "FAIL Required test coverage of 80% not reached. Total coverage: 50.00%",
  ],
  [
    "too many warnings",
    "npx eslint . --max-warnings 0",
    "/r/a.ts\n  3:7  warning  'x' is never used  no-unused-vars\n\n✖ 1 problem (0 errors, 1 warning)\n\nESLint found too many warnings (maximum: 0).\n",
    "ESLint found too many warnings (maximum: 0).",
  ],
  [
    "next, a page",
    "npm run build",
    ' ✓ Compiled successfully\n   Generating static pages (0/5) ...\nError occurred prerendering page "/about". Read more: https://nextjs.org/docs/messages/prerender-error\nReferenceError: window is not defined\n    at c (/r/page.js:1:1234)\nExport encountered an error on /about/page: /about, exiting the build.\n',
    "ReferenceError: window is not defined",
  ],
  [
    "next, types",
    "npm run build",
    " ✓ Compiled successfully in 2.1s\n   Running TypeScript ...\nFailed to type check.\n\n./app/page.tsx:3:9\nType error: Type 'string' is not assignable to type 'number'.\n",
    "app/page.tsx:3 Type error: Type 'string' is not assignable to type 'number'.",
  ],
  [
    "pnpm",
    "pnpm build",
    "> a@1.0.0 build /r\n> node build.mjs\n\n\u2009ELIFECYCLE\u2009 Command failed with exit code 1.\n",
    /^ELIFECYCLE/,
  ],
  [
    "rustfmt",
    "cargo fmt --check",
    "Diff in /r/src/main.rs:1:\n fn main() {\n-let x=1;\n+    let x = 1;\n }\n",
    "Diff in /r/src/main.rs:1:",
  ],
  [
    "shellcheck",
    "shellcheck a.sh",
    "\nIn a.sh line 3:\necho $x\n     ^-- SC2086 (info): Double quote to prevent globbing.\n\nFor more information:\n  https://www.shellcheck.net/wiki/SC2086 -- Double quote to prevent globbing ...\n",
    "a.sh:3 SC2086 (info): Double quote to prevent globbing.",
  ],
  [
    "pytest, of which tail left the last failure",
    "pytest -q",
    "____ test_b ____\n\n>   assert b()\nE   assert False\n\ntest_a.py:9: AssertionError\n=== short test summary info ===\nFAILED test_a.py::test_a - KeyError: 'x'\nFAILED test_a.py::test_b - assert False\n2 failed in 0.18s\n",
    "2 failed: test_a.py test_a: KeyError: 'x'; test_a.py test_b: assert False",
  ],
  [
    "a test file that pytest cannot import",
    "pytest",
    "== ERRORS ==\n____ ERROR collecting tests/test_a.py ____\nImportError while importing test module '/r/tests/test_a.py'.\nHint: make sure your test modules/packages have valid Python names.\nTraceback:\ntests/test_a.py:1: in <module>\n    import foo\nE   ModuleNotFoundError: No module named 'foo'\n=== 1 error in 0.08s ===\n",
    "tests/test_a.py:1 ModuleNotFoundError: No module named 'foo'",
  ],
  [
    "golangci-lint of a package that does not compile",
    "golangci-lint run",
    "cart/cart.go:1: : # shop/cart [shop/cart.test]\ncart/cart_test.go:30:19: undefined: price (typecheck)\npackage cart\n1 issues:\n* typecheck: 1\n",
    "cart/cart_test.go:30 undefined: price (typecheck)",
  ],
  [
    "golangci-lint of a package that imports one that does not compile",
    "golangci-lint run",
    'main.go:11:2: could not import shop/cart (-: # shop/cart\ncart/cart.go:168:6: total redeclared in this block) (typecheck)\n\t"shop/cart"\n\t^\n1 issues:\n* typecheck: 1\n',
    "cart/cart.go:168 total redeclared in this block) (typecheck)",
  ],
  [
    "golangci-lint, of which tail left the end",
    "golangci-lint run",
    "\tprice := total\n\t^\n3 issues:\n* errcheck: 1\n* unused: 2\n",
    "3 issues: * errcheck: 1 * unused: 2",
  ],
  [
    "go -v with Testify, of which tail left the end",
    "go test -v ./cart",
    "        \tError:      \tNot equal.\n        \t            \t--- Expected\n        \t            \t+++ Actual\n        \tTest:       \tTestAdds\n    cart_test.go:32: \n        \tError Trace:\t/r/cart/cart_test.go:32\n        \tError:      \tExpected value not to be nil.\n        \tTest:       \tTestAdds\n--- FAIL: TestAdds (0.05s)\nFAIL\nFAIL\tshop/cart\t0.4s\nFAIL\n",
    "cart_test.go:32 Error: Expected value not to be nil. (TestAdds)",
  ],
  [
    "a panic below go's own frames",
    "go test ./cart",
    "--- FAIL: TestAdds (0.00s)\npanic: no cart [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1()\n\t/home/me/.local/installs/go/1.25.6/src/testing/testing.go:1872 +0x190\npanic({0x1})\n\t/home/me/sdk/go1.24.2/src/runtime/panic.go:792 +0x132\nshop/cart.Add()\n\t/r/go2/src/cart.go:9 +0x1c\nFAIL\tshop/cart\t0.3s\nFAIL\n",
    "/r/go2/src/cart.go:9 panic: no cart [recovered, repanicked] (TestAdds)",
  ],
  [
    "tests whose names begin alike",
    "go test ./cart",
    `${["adds/with_vat", "adds/without_vat", "takes/with_vat", "takes/without_vat"].map((name) => `--- FAIL: TestCartOfOneCustomer${name} (0.0s)\n    cart_test.go:15: got 1`).join("\n")}\nFAIL\tshop/cart\t0.3s\n`,
    "4 failed: TestCartOfOneCustomeradds/with_vat; TestCartOfOneCusto…radds/without_vat; TestCartOfOneCustomertakes/with_vat; TestCartOfOneCusto…takes/without_vat",
  ],
  [
    "tests in a file with a long name",
    "go test ./cart",
    `${["adds", "takes", "sums", "sells"].map((name) => `--- FAIL: TestCartOfOneCustomerWithVat_${name} (0.0s)\n    cart_of_one_customer_test.go:15: got 1`).join("\n")}\nFAIL\tshop/cart\t0.3s\n`,
    /^4 failed: TestCartOfOneCustomerWithVat_adds; TestCartOfOneCustomerWithVat_takes; /,
  ],
  [
    "one failure of three, of which tail left the end",
    "npx jest | tail -9",
    "  ● sum › adds\n\n    Expected: 1\n    Received: 2\n\n      at a.test.js:3:5\n\nTests: 3 failed, 3 total\n",
    "3 failed: a.test.js:3 expected 1, got 2 (sum › adds)",
  ],
]

/** Lines that a program logs and that read like another runner's heading. */
const LOGGED: [line: string, command: string, output: (line: string) => string, failure: string][] = [
  [
    "    Failed login for user x",
    "npx jest",
    (line) =>
      `FAIL ./a.test.js\n${line}\n  ● sum › adds\n\n    Expected: 1\n    Received: 2\n\n      at a.test.js:3:5\n\nTests: 1 failed, 1 total\n`,
    "a.test.js:3 expected 1, got 2 (sum › adds)",
  ],
  [
    "not ok 3 device x",
    "pytest",
    (line) =>
      `=== FAILURES ===\n___ test_a ___\n\n>       assert 1 == 2\nE       assert 1 == 2\n\na.py:3: AssertionError\n${line}\n== 1 failed in 0.02s ==\n`,
    "a.py:3 assert 1 == 2 (test_a)",
  ],
  [
    "Checking for invalid entries... done",
    "./deploy.sh",
    (line) => `${line}\nDeploying\nDEPLOY ERROR 42 at step 3\n`,
    "DEPLOY ERROR 42 at step 3",
  ],
  ["0 invalid rows", "./import.sh", (line) => `${line}\nprocessed\nImport failed at row 7\n`, "Import failed at row 7"],
]

test.each(LOGGED)("%j, which the program logged, is not taken for the failure", (line, text, output, failure) => {
  expect(command(text, output(line), 1)).toEqual({ verdict: "fail", failure })
})

test.each([
  ["a row of numbers", "node print.js", `ok\n${Array.from({ length: 300 }, (_, i) => 100 + i).join(" ")}\n`],
  ["runs that were timed", "node bench.js", "10 runs in 3.2 s\nok\n"],
  ["a bundler's count behind a pipe", "npm run build 2>&1 | tail -3", "Build log ok\n42 modules in 1.2s\n"],
  ["a word of its own", "./run.sh", "checked\nFAIL\n"],
  ["a folder called test", "cd test", ""],
  ["a package called after a checker", "npm install --save-dev eslint", "added 1 package\n"],
  ["a count of no errors", "./validate.sh", "checked 5 files\n0 errors\n"],
  ["a log of another machine", "docker logs test-db", "ERROR: something failed\n"],
])("%s is no test run", (_, text, output) => {
  expect(command(text, output, 0)).toEqual({})
})

test("tests that failed are a failing run also where a filter shows nothing else", () => {
  const output = "--- FAIL: TestAdd (0.01s)\n    cart_test.go:7: got 1, want 2\n--- FAIL: TestTake (0.02s)\n"
  expect(command("go test ./... 2>&1 | grep -A1 -e '--- FAIL'", output, 0).failure).toContain("TestTake")
})

test("a race that go found is not in go's own file", () => {
  const race =
    "--- FAIL: TestAdd (0.01s)\n    testing.go:1399: race detected during execution of test\nFAIL\nFAIL\tshop/cart\t0.1s"
  expect(command("go test -race ./...", race, 1).failure).toBe("TestAdd: race detected during execution of test")
})

test.each([
  [
    "bun test",
    "src/cart.test.ts:\n3 |   expect(cart.total(3)).toBe(4)\n                            ^\nerror: expect(received).toBe(expected)\n\nExpected: 4\nReceived: 5\n\n      at <anonymous> (/r/src/cart.test.ts:3:25)\n(fail) sums [0.41ms]\n\n 0 pass\n 1 fail\nRan 1 test across 1 file. [29.00ms]\n",
    "/r/src/cart.test.ts:3 expected 4, got 5 (sums)",
  ],
  [
    "pytest -q",
    '____ test_sum ____\n\n    def test_sum():\n        assert load("a.json")\n        expected = load("b.json")\n        actual = total(3)\n>       assert actual == expected\nE       assert 5 == 4\n\ntest_a.py:9: AssertionError\n1 failed in 0.18s\n',
    "test_a.py:9 assert 5 == 4 (test_sum)",
  ],
  [
    "pytest",
    "____ test_total ____\n\n>       assert cart.total(3) == 4\nE       assert 5 == 4\n\ntest_a.py:9: AssertionError\n1 failed in 0.18s\n",
    "test_a.py:9 assert 5 == 4 (test_total)",
  ],
])("%s: code that is shown is no place, value or message", (text, output, failure) => {
  expect(command(text, output, 1).failure).toBe(failure)
})

test.each([
  [
    "expect(jest.fn()).toHaveBeenCalledTimes(expected)\n\n    Expected number of calls: 2\n    Received number of calls: 0",
    "expected 2, got 0",
  ],
  ["expect(received).toHaveLength(expected)\n\n    Expected length: 3\n    Received length: 2", "expected 3, got 2"],
  [
    'expect(received).toThrow(expected)\n\n    Expected substring: "x"\n\n    Received function did not throw\n    Received value: undefined',
    "Received function did not throw",
  ],
])("jest: %s", (said, reason) => {
  const output = `FAIL a.test.js\n  ● adds\n\n    ${said}\n\n      at Object.<anonymous> (a.test.js:2:3)\n\nTests:       1 failed, 1 total\n`
  expect(command("npx jest", output, 1).failure).toBe(`a.test.js:2 ${reason} (adds)`)
})

test.each([
  ["cart must not be empty", "true", "false", "=="],
  ["Missing expected rejection.", "undefined", "undefined", "rejects"],
])("node: the message `%s` says more than values", (said, wanted, got, operator) => {
  const heading = "test at a.test.js:2:1\n✖ adds (1.2ms)\n"
  const values = `    actual: ${got},\n    expected: ${wanted},\n    operator: '${operator}'\n`
  const output = `ℹ tests 1\nℹ pass 0\nℹ fail 1\n\n✖ failing tests:\n\n${heading}  AssertionError [ERR_ASSERTION]: ${said}\n    code: 'ERR_ASSERTION',\n${values}  }\n`
  expect(command("node --test", output, 1).failure).toBe(`a.test.js:2 ${said} (adds)`)
})

test("the totals that jest repeats after --bail count once", () => {
  const totals = "Test Suites: 1 failed, 1 total\nTests:       2 failed, 1 passed, 3 total\nSnapshots:   0 total\n"
  const output = `FAIL a.test.js\n  ● adds\n\n    boom\n\n${totals}Time:        0.5 s\n${totals}Time:        0.6 s\n`
  const source = { tool: "bash", kind: "command", input: { command: "npx jest --bail" }, output, exit: 1 } as const
  expect(verdictOf(source).report?.counts).toMatchObject({ failed: 2, passed: 1 })
})

test("what the next test of a TAP run prints is no reason of the last", () => {
  const price = "not ok 1 - price\n  ---\n  location: 'price.test.js:3:1'\n  error: 'no price'\n  ...\n"
  const logged = "# Error: a log\n# expected: 2\n# actual: 1\n"
  const other = "not ok 2 - other # time=3ms\n  ---\n  location: 'other.test.js:1:1'\n  error: 'no other'\n  ...\n"
  const run = `TAP version 13\n${price}${logged}${other}1..2\n# tests 2\n# pass 0\n# fail 2\n`
  expect(command("node --test", run, 1).failure).toBe(
    "2 failed: price.test.js:3 price: no price; other.test.js:1 other: no other",
  )
})

test("a report is read behind the name of a task that a runner puts before each line", () => {
  const mise = (...lines: string[]) => command("mise run check 2>&1 | tail -25", lines.join("\n"), 0)
  const start = "[test:ci] $ go test -race ./..."
  const ok = "[test:ci] ok  \tshop/price\t1.5s\tcoverage: 95.4% of statements"
  expect(mise(start, ok, "[test:ci] Finished in 9.34s", "Finished in 9.35s").verdict).toBe("pass")
  const failed = ["--- FAIL: TestPrice (0.00s)", "    price_test.go:7: expected 849", "FAIL", "FAIL\tshop/price\t0.1s"]
  expect(mise(start, ...failed.map((line) => `[test:ci] ${line}`))).toMatchObject({
    verdict: "fail",
    failure: expect.stringContaining("expected 849"),
  })
})

test.each(["[0] ", "[lint] ", "@shop/web:build: ", "packages/api build: ", "#12 3.214 ", "api-1  | "])(
  "`%s` before a line is no part of the path in it",
  (task) => {
    const tsc = command(
      "npm run build",
      `${task}src/a.ts(4,2): error TS2304: Cannot find name 'x'.\n${task}exited\n`,
      2,
    )
    expect(tsc.failure).toBe("src/a.ts:4 TS2304: Cannot find name 'x'.")
    expect(command("make", `${task}src/a.c:4:2: error: bad\n`, 2).failure).toBe("src/a.c:4 bad")
  },
)

test.each(FAILS)("%s: the failure of a run is reported whatever the exit code", (_, text, output, failure) => {
  for (const judged of [
    command(text, output, 1),
    command(`${text} 2>&1 | tail -80`, output, 0),
    command(text, output),
  ]) {
    expect(judged.verdict).toBe("fail")
    if (typeof failure === "string") expect(judged.failure).toBe(failure)
    else expect(judged.failure).toMatch(failure)
    expect(judged.failure?.length).toBeLessThanOrEqual(160)
  }
})

const PASSES: [name: string, command: string, output: string][] = [
  ["jest", "npm test", js.jestPass],
  ["vitest", "npx vitest run", js.vitestPass],
  ["bun test", "bun test", js.bunPass],
  ["eslint with warnings only", "npx eslint .", js.eslintWarn],
  ["pytest -q", "pytest -q", sys.pytestPass],
  ["go test", "go test ./...", sys.goPass],
  ["go test of a package whose name means failure", "go test ./...", "ok  \texample.com/pkg/errors\t1.204s\n"],
  ["cargo test", "cargo test -q", sys.cargoTestPass],
  ["gradle", "gradle test", sys.gradlePass],
  ["ruff", "ruff check", "All checks passed!\n"],
  ["mypy", "mypy .", "Success: no issues found in 10 source files\n"],
  ["phpunit", "phpunit", "OK (13 tests, 20 assertions)\n"],
  ["unittest", "python -m unittest", "...\nRan 3 tests in 0.001s\n\nOK\n"],
  ["a silent tsc", "cd web && npx tsc --noEmit", ""],
  ["ExUnit with doctests", "mix test", "1 doctest, 1 test, 0 failures\n"],
  ["ExUnit with properties", "mix test", "1 property, 2 doctests, 3 tests, 0 failures\n"],
  ["swift test", "swift test", sys.swiftPass],
]

test.each(PASSES)("%s: a passing run passes", (_, text, output) => {
  expect(command(text, output, 0)).toEqual({ verdict: "pass" })
})

test("colours do not hide a verdict", () => {
  const output =
    "\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m (1)\n\x1b[2m      Tests \x1b[22m \x1b[31m1 failed\x1b[39m\n"
  expect(command("npx vitest | cat", output, 0).verdict).toBe("fail")
})

const ANSWERS: [command: string, output: string, exit: number][] = [
  ["grep -rn foo src", "", 1],
  ["rg foo", "", 1],
  ["cd src && rg foo", "", 1],
  ["cat a.txt | grep -c foo", "0\n", 1],
  ["diff a b", "1c1\n< a\n---\n> b\n", 1],
  ["test -f foo", "", 1],
  ["[ -d foo ]", "", 1],
  ["which deno", "", 1],
  ["git diff --exit-code", "diff --git a/x b/x\n", 1],
  ["command -v deno", "", 1],
  ["grep -q foo a.txt && echo found", "", 1],
  ["diff a b && echo same", "1c1\n< a\n---\n> b\n", 1],
  ["[ -d dist ] && ls dist", "", 1],
  ["which deno && deno --version", "(no output)", 1],
  ["find . -name '*.ts' | xargs grep -l foo", "", 123],
  ["find . -name '*.ts' -exec grep -l foo {} +", "", 1],
  ["pkill -f vite", "", 1],
  ["npm outdated", "Package  Current  Wanted  Latest\nzod  3.0.0  3.1.0  4.0.0\n", 1],
]

test.each(ANSWERS)("`%s` with exit 1 is an answer, not a failure", (text, output, exit) => {
  expect(command(text, output, exit)).toEqual({})
})

const PLAIN: [command: string, output: string, exit: number, failure: string][] = [
  [
    "node deploy.js",
    "deploy.js [options]\n\nOptions:\n  --version  Show version number  [boolean]\n  --on-fail  what to do when an upload is rejected  [string]\n  --env  [string] [required]\n\nMissing required argument: env\n",
    1,
    "Missing required argument: env",
  ],
  [
    "docker run",
    "docker: 'docker run' requires at least 1 argument\n\nUsage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]\n\nSee 'docker run --help' for more information\n",
    1,
    "exit code 1: docker: 'docker run' requires at least 1 argument",
  ],
  [
    "cp a.ts",
    "cp: missing destination file operand after 'a.ts'\nTry 'cp --help' for more information.\n",
    1,
    "exit code 1: cp: missing destination file operand after 'a.ts'",
  ],
  [
    "npm run x",
    "\n> a@1.0.0 x\n> node x.js\n\nnpm notice\nnpm notice New major version of npm available! 10.9.0 -> 12.0.0\nnpm notice\n",
    3,
    "exit code 3, nothing printed",
  ],
  [
    "pgrep -P",
    "pgrep: option requires an argument -- 'P'\n\nUsage:\n pgrep [options] <pattern>\n\nOptions:\n -d, --delimiter <string>  specify output delimiter\n -i, --ignore-case         match case insensitively\n",
    2,
    "exit code 2: pgrep: option requires an argument -- 'P'",
  ],
  [
    "grep",
    "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n",
    2,
    "exit code 2: Usage: grep [OPTION]... PATTERNS [FILE]...",
  ],
  [
    "deploy",
    "error: the following required arguments were not provided:\n  <TARGET>\n\nUsage: deploy <TARGET>\n\nFor more information, try '--help'.\n",
    2,
    "error: the following required arguments were not provided: ‹TARGET>",
  ],
  [
    "kubectl get pods",
    'E1129 08:05:49.258796   22735 memcache.go:265] "Unhandled Error" err="couldn\'t get current server API group list: connection refused"\nThe connection to the server localhost:8080 was refused - did you specify the right host or port?\n',
    1,
    "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
  ],
  ["cat foo", "cat: foo: No such file or directory\n", 1, "cat: foo: No such file or directory"],
  [
    "gh pr view 5 --json reviewThreads",
    'Unknown JSON field: "reviewThreads"\nAvailable fields:\n  additions\n  title\n  url\n',
    1,
    'Unknown JSON field: "reviewThreads"',
  ],
  ["sed -n 1,3p a.go; echo ===", "// callers cannot see them\n(eval):1: == not found\n", 1, "== not found"],
  ["foo --bar", "/bin/bash: line 1: foo: command not found\n", 127, "foo: command not found"],
  [
    "git push",
    "To github.com:a/b.git\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs to 'github.com:a/b.git'\n",
    1,
    "! [rejected] main -> main (fetch first)",
  ],
  [
    "git rebase main",
    "Rebasing (1/2)\rAuto-merging a.ts\nCONFLICT (content): Merge conflict in a.ts\nerror: could not apply 6223c2f... Add a price\nhint: Resolve all conflicts manually\n",
    1,
    "CONFLICT (content): Merge conflict in a.ts",
  ],
  [
    "node x.js",
    "/repo/x.js:3\nfoo()\n^\n\nReferenceError: foo is not defined\n    at Object.<anonymous> (/repo/x.js:3:1)\n\nNode.js v22.0.0\n",
    1,
    "ReferenceError: foo is not defined",
  ],
  [
    "python3 x.py",
    'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n    int("a")\nValueError: invalid literal for int() with base 10: \'a\'\n',
    1,
    "ValueError: invalid literal for int() with base 10: 'a'",
  ],
  ["./run.sh", "", 3, "exit code 3, nothing printed"],
  [
    "node server.js",
    '{"level":"info","message":"starting"}\n{"level":"error","message":"no port"}\n',
    1,
    '{"level":"error","message":"no port"}',
  ],
  ["node server.js", '{"level":"info","message":"starting"}\nError: no port\n', 1, "Error: no port"],
  [
    "perl cart.pl",
    'Global symbol "$x" requires explicit package name (did you forget to declare "my $x"?) at cart.pl line 2.\nExecution of cart.pl aborted due to compilation errors.\n',
    255,
    'exit code 255: Global symbol "$x" requires explicit package name (did you forget to declare "my $x"?) at cart.pl line 2.',
  ],
  ["gofmt -d .", "-func a() {}\n+func a() {\n+\treturn 1\n+}\n", 1, "exit code 1: + return 1"],
  [
    "./run.sh",
    "2 errors mended\nrun.sh: line 3: 4242 Segmentation fault      ./cart\n",
    139,
    "run.sh: line 3: 4242 Segmentation fault ./cart",
  ],
  ["flake8 -q --count", "a.py\n14\n", 1, "exit code 1: a.py"],
  [
    "bandit -r app",
    "Test results:\n>> Issue: [B307:blacklist] Use of insecure function\n   Severity: Medium\nFiles skipped (0):\n",
    1,
    ">> Issue: [B307:blacklist] Use of insecure function",
  ],
  ["curl -s -w '%{http_code}' http://localhost:9", "000\n", 7, "exit code 7: 000"],
  [
    "node big.js",
    "[15738:0x36b1ccd0] 81 ms: Mark-Compact 12.9 (21.2) MB allocation failure\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb8ced1 node::OOMErrorHandler [node]\n",
    134,
    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
  ],
  [
    "bun test nothing",
    'The following filters did not match any test files in --cwd="/r":\n nothing\n\nLearn more about bun test: https://bun.com/docs/cli/test\n',
    1,
    'The following filters did not match any test files in --cwd="/r": nothing',
  ],
  ["npm run pack", "\n> shop@1.0.0 pack\n> node pack.js\n\n", 3, "exit code 3, nothing printed"],
  [
    "npx ava",
    "  Uncaught exception in test/a.js\n\n  test/a.js:1\n\n  SyntaxError: Cannot use import statement outside a module\n\n  1 uncaught exception\n",
    1,
    "SyntaxError: Cannot use import statement outside a module",
  ],
  [
    "cd nope && grep x y",
    "bash: line 1: cd: nope: No such file or directory\n",
    1,
    "cd: nope: No such file or directory",
  ],
  ["grep -E '(' x", "grep: Unmatched ( or \\(\n", 2, "exit code 2: grep: Unmatched ( or \\("],
  ["which node && node x.js", "/usr/bin/node\nbad\n", 1, "exit code 1: bad"],
  ["./deploy.sh", "checked: 0 errors, 3 warnings\nfailed: 0\nthe host is away\n", 1, "exit code 1: the host is away"],
  ["grep -q foo a.txt; ./run.sh", "", 1, "exit code 1, nothing printed"],
  [
    "npx uvu",
    'f.js\n✘ •   (1 / 2)\n\n   FAIL  "sums"\n    Expected values to be equal:\n\n  Total: 2\n',
    1,
    'FAIL "sums"',
  ],
  ["find . | xargs rm", "", 123, "exit code 123, nothing printed"],
  [
    "find gone -exec grep foo {} +",
    "find: 'gone': No such file or directory\n",
    1,
    "find: 'gone': No such file or directory",
  ],
  ["cat list | xargs grep foo", "grep: a: No such file or directory\n", 123, "grep: a: No such file or directory"],
  ["yarn outdated", "error Couldn't find a package.json file\n", 1, "error Couldn't find a package.json file"],
  ["timeout 5 npm run dev", "> vite\n\n  ➜  Local:   http://localhost:5173/\n", 124, "timed out"],
  ["./run.sh", "waiting\n", 124, "exit code 124: waiting"],
  [
    "foo --bar",
    "'foo' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n",
    1,
    "'foo' is not recognized as an internal or external command,",
  ],
  [
    "foo",
    "foo: The term 'foo' is not recognized as a name of a cmdlet, function, script file, or executable program.\nCheck the spelling of the name, or if a path was included, verify that the path is correct and try again.\n",
    1,
    "foo: The term 'foo' is not recognized as a name of a cmdlet, function, script file, or executable program.",
  ],
  [
    "ruby a.rb",
    "a.rb:3:in 'foo': undefined method 'x' for nil (NoMethodError)\n\n  nil.x\n     ^^\n\tfrom a.rb:7:in '<main>'\n",
    1,
    "a.rb:3:in 'foo': undefined method 'x' for nil (NoMethodError)",
  ],
  [
    "cargo run",
    "\nthread 'main' (4242) panicked at src/main.rs:3:5:\nindex out of bounds: the len is 3 but the index is 5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
    101,
    "exit code 101: index out of bounds: the len is 3 but the index is 5",
  ],
  [
    "go run .",
    "2025/01/01 10:00:00 listen tcp :8080: bind: address already in use\nexit status 1\n",
    1,
    "exit code 1: 2025/01/01 10:00:00 listen tcp :8080: bind: address already in use",
  ],
  [
    "git checkout main",
    "error: Your local changes to the following files would be overwritten by checkout:\n\tsrc/a.ts\nPlease commit your changes or stash them before you switch branches.\nAborting\n",
    1,
    "error: Your local changes to the following files would be overwritten by checkout: src/a.ts",
  ],
  [
    "npx eslint .",
    "\nOops! Something went wrong! :(\n\nESLint: 9.15.0\n\nESLint couldn't find an eslint.config.(js|mjs|cjs) file.\n\nIf you still have problems after following the migration guide, please stop by\nhttps://eslint.org/chat/help to chat with the team.\n",
    2,
    "ESLint couldn't find an eslint.config.(js|mjs|cjs) file.",
  ],
  [
    "npx eslint nope/",
    'Oops! Something went wrong! :(\n\nESLint: 9.39.5\n\nNo files matching the pattern "nope/" were found.\nPlease check for typing mistakes in the pattern.\n',
    2,
    'No files matching the pattern "nope/" were found.',
  ],
  [
    "pytest --nope",
    "ERROR: usage: pytest [options] [file_or_dir] [...]\npytest: error: unrecognized arguments: --nope\n  inifile: None\n  rootdir: /r\n",
    4,
    "pytest: error: unrecognized arguments: --nope",
  ],
  ["gh pr checks", "lint\tfail\t1m\thttps://x/1\ntest\tpass\t2m\thttps://x/2\n", 1, "lint fail 1m https://x/1"],
  [
    "./gradlew build",
    "\nFAILURE: Build failed with an exception.\n\n* Where:\nBuild file '/r/build.gradle' line: 3\n\n* What went wrong:\nPlugin [id: 'foo', version: '1.0'] was not found in any of the following sources:\n\n- Gradle Core Plugins\n\n* Try:\n> Run with --stacktrace option to get the stack trace.\n\nBUILD FAILED in 1s\n",
    1,
    "Plugin [id: 'foo', version: '1.0'] was not found in any of the following sources: - Gradle Core Plugins",
  ],
]

test.each(PLAIN)(
  "`%s`: the failure of a command that is no check is its most informative line, after the exit code where it does not tell of a failure",
  (text, output, exit, failure) => {
    expect(command(text, output, exit)).toEqual({ verdict: "fail", failure })
  },
)

const VIEWED_TEXT: [command: string, output: string][] = [
  ["cat build.log", js.jestFail],
  ["git log -3", "commit 0123456789012345678901234567890123456789\n\n    fix: error TS2304: Cannot find name\n"],
  ["grep -rn 'error TS' docs", "docs/a.md:3: src/a.ts(1,2): error TS2304: Cannot find name 'x'.\n"],
  ["cat > note.md <<'EOF'\nnpm test\nEOF\ncat note.md", sys.pytestFail],
  ["kubectl -n shop logs job/tests --tail 50", js.jestFail],
  ["docker compose logs web | tail -20", js.npmTail],
  ["docker compose logs", js.jestFail],
  ["gh issue view 5", js.jestFail],
  ["curl -s https://example.com/README.md | head -50", sys.pytestFail],
  ["python3 -c 'print(open(\"test.log\").read())'", "--- FAIL: TestAdd (0.01s)\nFAIL\nFAIL\tshop\t0.1s\n"],
  ["node issues.js", "Failed: shop#12\n"],
  ["echo done", "done\n"],
  ["ls", "error.log\nfailed.txt\n"],
]

test.each(VIEWED_TEXT)("`%s` only shows text: a report in it is no verdict", (text, output) => {
  expect(command(text, output, 0)).toEqual({})
})

test.each(["src/a.ts:3:4: error: logged", "::error file=src/a.ts,line=3::logged"])(
  "%j, logged on purpose by a passing test run, is not taken for a compiler's",
  (line) => {
    expect(command("npm test", `${line}\n${js.jestPass}`, 0)).toEqual({ verdict: "pass" })
  },
)

test("a passed test run does not hide the failure of a later command", () => {
  expect(command("npm test && ./deploy.sh", `${js.jestPass}deploy.sh: cannot reach host\n`, 1).failure).toContain(
    "cannot reach host",
  )
})

const SILENT: [command: string, output: string, passes: boolean][] = [
  ["tsc --noEmit", "", true],
  ["tsc --noEmit &", "", false],
  ["if [ -f tsconfig.json ]; then tsc --noEmit; fi", "", false],
  ["tsc --noEmit; echo done", "", false],
  ["tsc --noEmit && rm -r out", "", false],
  ["go vet ./...", "", true],
  ["go run .", "", false],
  ["cargo clippy -q", "", true],
  ["cargo run -q", "", false],
  ["npm --silent run lint", "", true],
  ["npm run dev", "", false],
  ["make -s check", "", true],
  ["make -s all", "", false],
  ["npm run check 2>&1 | grep -E 'error' | head -5", "", true],
  ["npm run check 2>&1 | grep -E 'error'", "(no output)", true],
  ["npm run check 2>&1 | grep -E 'login'", "", false],
  ["npm run check 2>&1 | sed -n '/error/p'", "", false],
  ["npm run check 2>&1 | tail -3", "", false],
  ["npx tsc --noEmit 2>&1 | head -20", "(no output)", true],
  ["cd app && go build ./... 2>&1 | tail -5", "", true],
  ["go build ./... 2>/dev/null | head -5", "", false],
  ["npm run check 2>&1 | grep -E 'error'", "src/errors.ts is fine", false],
  ["bun test 2>&1 | grep pass", " 3 pass\n", false],
]

const ECHOED: [command: string, output: string, outcome: object][] = [
  ['tsc --noEmit; echo "exit: $?"', "exit: 0\n", { verdict: "pass" }],
  ["tsc --noEmit\necho $?", "0\n", { verdict: "pass" }],
  ['npm run lint 2>&1; echo "EXIT=$? done"', "ok\nEXIT=0 done\n", { verdict: "pass" }],
  ['tsc --noEmit | tail; echo "exit: $?"', "exit: 0\n", { verdict: "pass" }],
  ['npm run check | tail; echo "exit: $?"', "exit: 0\n", {}],
  ['tsc --noEmit & echo "exit: $?"', "exit: 0\n", {}],
  ['tsc --noEmit; echo "exit: $?"', "exit: none\n", {}],
  ["tsc --noEmit; echo 5", "5\n", {}],
  ['npm test; echo "exit: $?"', `${js.jestPass}exit: 1\n`, { verdict: "fail", failure: expect.any(String) }],
  ['node x.js; echo "exit: $?"', "cannot reach host\nexit: 1\n", { verdict: "fail", failure: "cannot reach host" }],
  ['./x; echo "exit: $?"', "exit: 3\n", { verdict: "fail", failure: "exit code 3, nothing printed" }],
  ['grep -q x y; echo "exit: $?"', "exit: 1\n", {}],
  ['make 2>&1; echo "EXIT: $?"', "cc a.c\nEXIT: 0\n", { verdict: "pass" }],
  ['cmake --build build; echo "exit: $?"', "ninja: no work to do.\nexit: 0\n", { verdict: "pass" }],
  ['make | tail -2; echo "exit: $?"', "cc a.c\nexit: 0\n", {}],
  ['npx jest | tail -5; echo "exit: $?"', "exit: 0\n", {}],
  ['make & echo "exit: $?"', "exit: 0\n", {}],
  ['make; ls; echo "exit: $?"', "a.c\nexit: 0\n", {}],
]

test.each(ECHOED)("`%s` that prints %j states its exit code itself", (text, output, outcome) => {
  expect(command(text, output, 0)).toEqual(outcome)
})

test.each(SILENT)("`%s` that prints %j passes: %p", (text, output, passes) => {
  expect(command(text, output, 0)).toEqual(passes ? { verdict: "pass" } : {})
})

test.each(["Process running with session ID 51949\n", "Command running in background with ID: b1\n"])(
  "a command that goes on after its call has no verdict yet, unless it has failed already: %p",
  (note) => {
    expect(command("go test ./...", `${note}?   \tshop/cmd\t[no test files]\n`)).toEqual({})
    expect(command("tsc --noEmit", note)).toEqual({})
    expect(command("go test ./...", `${note}FAIL\tshop/cart\t0.1s\n`)).toMatchObject({ verdict: "fail" })
  },
)

test("a command ended by its host fails for the reason the host states", () => {
  const note =
    "compiling…\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 120000 ms.\n</shell_metadata>"
  expect(command("make all", note)).toEqual({ verdict: "fail", failure: "timed out after 120000 ms" })
  const ended = `listening on 127.0.0.1:4150\nerror: script "start" was terminated by signal SIGTERM (Polite quit request)\n${note}`
  expect(command("bun run start", ended).failure).toBe("timed out after 120000 ms")
  expect(command("npm test", `${js.jestFail}\n${note}`).failure).toMatch(/^src\/login\.test\.ts:42 /)
})

test.each([
  ["ssh: connect to host github.com port 22: Operation timed out"],
  ["git@github.com: Permission denied (publickey)."],
  ["ERROR: Repository not found."],
])("git could not read from a remote because of %p", (cause) => {
  const end = "Please make sure you have the correct access rights\nand the repository exists.\n"
  const said = "fatal: Could not read from remote repository."
  expect(command("git push", `${cause}\n${said}\n\n${end}`, 128).failure).toBe(cause)
  expect(command("git push", `${said}\n\n${end}`, 128).failure).toBe(said)
})

test.each([
  ["make", "a.c:3:4: error: no such type\n", "make: *** [Makefile:3: all] Error 1\n", "a.c:3 no such type"],
  [
    "cargo build",
    "error[E0308]: mismatched types\n --> src/a.rs:3:4\n",
    "error: could not compile `shop`\n",
    "src/a.rs:3 mismatched types",
  ],
  ["./deploy.sh", "ERROR: the bucket is not there\n", "bye\n", "ERROR: the bucket is not there"],
])("of `%s`, what failed is found above 20 kB of other lines", (text, failure, end, said) => {
  const page = `${"x".repeat(79)}\n`.repeat(250)
  expect(command(text, failure + page + end, 2)).toEqual({ verdict: "fail", failure: said })
  expect(command(text, failure + page.repeat(4) + end, 2).failure).not.toBe(said)
})

test("an exit code stated in the output counts", () => {
  expect(command("ls nope", "ls: nope: No such file or directory\n\nCommand exited with code 2").failure).toBe(
    "ls: nope: No such file or directory",
  )
  expect(command("grep x y", "Command exited with code 1")).toEqual({})
})

test("only commands and unknown tools have a verdict, unknown tools only if their output is unmistakable", () => {
  const source = { tool: "x", input: {}, output: js.jestFail }
  expect(verdictOf({ ...source, kind: "read" })).toEqual({})
  expect(verdictOf({ ...source, kind: "other" }).verdict).toBe("fail")
  expect(verdictOf({ ...source, kind: "other", output: "a.ts:3:4: error: x" })).toEqual({})
})

test("the tests that passed in a terminal are no verdict while it runs", () => {
  const shown = (status: string, output: string) =>
    verdictOf({
      tool: "pty_read",
      kind: "other",
      input: {},
      output: `<pty_output id="pty_1" status="${status}">\n${output}`,
    })
  expect(shown("exited", js.jestPass).verdict).toBe("pass")
  expect(shown("running", js.jestPass)).toEqual({})
  expect(shown("running", js.jestFail).verdict).toBe("fail")
})

test("a Go run in which no package had a test of the name has not passed", () => {
  const nothing = "testing: warning: no tests to run\nPASS\nok  \tshop/cart\t0.1s [no tests to run]\n"
  for (const exit of [0, undefined])
    expect(command("go test -v -run TestNope ./cart", nothing, exit).verdict).toBeUndefined()
  expect(command("go test -v -run TestNope ./cart 2>&1 | tail -30", nothing, 0).verdict).toBeUndefined()
  expect(command("go test -run TestAdds ./...", `ok  \tshop\t0.1s\n${nothing}`, 0).verdict).toBe("pass")
  // what another runner says is of other tests
  const passed = "Tests:       5 passed, 5 total\nTest Suites: 1 passed, 1 total\n"
  expect(command("go test -run TestNope ./... && npx jest", nothing + passed, 0).verdict).toBe("pass")
  expect(command("task test", nothing.replaceAll(/^/gm, "shop:test: "), 0).verdict).toBeUndefined()
  // the package that had the test may stand above what is left
  expect(command("go test -run TestAdds ./...", `...output truncated...\n\n${nothing}`, 0).verdict).toBe("pass")
  expect(command("go test -run TestAdds ./... | tail -1", nothing.split("\n")[2] ?? "", 0).verdict).toBe("pass")
})

test("a failure in another language is not outvoted by tests that passed before it", () => {
  const passed = "===== 5 passed in 0.12s =====\n"
  expect(command("make check 2>&1 | tail", `${passed}make: *** [Makefile:2: a.o] Erreur 1\n`, 0).verdict).toBe("fail")
})

test("of git in another language, the error is kept and not the hint below it", () => {
  const hint = "Hinweis: Bitte committen Sie Ihre Änderungen.\nAbbruch\n"
  expect(command("git pull", `Fehler: lokale Änderungen würden überschrieben:\n\ta.txt\n${hint}`, 1).failure).toBe(
    "Fehler: lokale Änderungen würden überschrieben: a.txt",
  )
})

test("many failures are counted, and the first are named", () => {
  const failing = Array.from({ length: 40 }, (_, at) => `FAILED tests/test_a.py::test_${at} - assert ${at} == 0`).join(
    "\n",
  )
  const { failure = "" } = command("pytest -q", `${failing}\n40 failed, 2 passed in 3.10s\n`, 1)
  expect(failure).toStartWith("40 failed: tests/test_a.py test_0; tests/test_a.py test_1; ")
  expect(failure.length).toBeLessThanOrEqual(160)
})
