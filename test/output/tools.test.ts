// What real tools print in the ways agents run them: behind `tail`, `head` and filters, for packages of a workspace, with
// parts that were skipped. Each output is of a real run, shortened.

import { expect, test } from "bun:test"
import { verdictOf } from "../../src/output/verdict.ts"

function outcome(command: string, output: string, exit = 0) {
  const {
    report: _,
    tests: __,
    ...rest
  } = verdictOf({ tool: "bash", kind: "command", input: { command }, output, exit })
  return rest
}

const cargoStart = `   Compiling shop v0.1.0 (/app)
    Finished \`test\` profile [unoptimized + debuginfo] target(s) in 0.44s
     Running unittests src/lib.rs (target/debug/deps/shop-0869b93a93357d05)

running 4 tests
test tests::ok ... ok
test tests::adds ... FAILED
`
const cmakeStart = `-- Configuring done
-- Generating done
-- Build files have been written to: /app/build
[ 50%] Building C object CMakeFiles/a.dir/a.c.o
`
const playwrightEnd = `    fail.spec.js:1:50 › adds ───────
    fail.spec.js:1:138 › slow ──────
  1 skipped
  1 passed (1.2s)
`
const noTests = `rootdir: /app
collected 0 items

============================ no tests ran in 0.01s =============================
ERROR: file or directory not found: tests/test_nope.py

`
const noxEnd = `============================== 2 passed in 0.03s ===============================
nox > Session ok was successful.
nox > Ran 2 sessions in 2 seconds:
nox > * tests: failed, took a second
nox > * ok: success
`
const workspaceEnd = `> @x/b@1.0.0 test
> node --test

TAP version 13
# Subtest: ok
ok 1 - ok
1..1
# tests 1
# suites 0
# pass 1
# fail 0
`
const tapEnd = "# tests 4\n# pass 1\n# fail 3\n1..4\n"

test.each([
  ["cargo test 2>&1 | head -6", cargoStart],
  [
    "cargo test 2>&1 | head -5",
    "test result: ok. 2 passed; 0 failed; 0 ignored\n\n     Running tests/a.rs\n\nrunning 9 tests\n",
  ],
  [
    "cargo run 2>&1 | head -20",
    "    Finished `dev` profile [unoptimized] target(s) in 0.05s\n     Running `target/debug/shop`\n",
  ],
  ["go test ./... 2>&1 | head -2", "ok  \texample.com/shop/cart\t0.012s\nok  \texample.com/shop/price\t0.004s\n"],
  ["cmake -B build && cmake --build build 2>&1 | head -1", cmakeStart],
  ["npx playwright test 2>&1 | tail -4", playwrightEnd],
  ["npx playwright test 2>&1 | tail -1", "  1 passed (1.2s)\n"],
  ["npx mocha -R tap | tail -2", tapEnd.slice(-12)],
  ["npm test --workspaces 2>&1 | tail -11", workspaceEnd],
  ["npx eslint . 2>&1 | tail -1", "\n"],
  ["go vet ./... 2>&1 | grep -iE 'error|fail'", ""],
  ["go build ./... 2>&1 | grep error | head", ""],
  ["flake8 | grep -i error", ""],
  ["shellcheck a.sh | grep error", ""],
  ["npx eslint nope/ 2>&1 | grep error", ""],
  ["npm test 2>&1 | grep error", ""],
  ["npm run lint 2>&1 | grep 'src/a.ts.*error'", ""],
  ["npx tsc --noEmit | grep -v 'error TS2307'", ""],
  ["npx tsc --noEmit | grep 'src/a.ts.*error'", ""],
  ["npx tsc --noEmit | grep error | grep src/a.ts", ""],
  [
    "npx jest 2>&1 | tail -4",
    "Tests:       3 passed, 3 total\nSnapshots:   0 total\nTime:        1.2 s\nRan all test suites.\n",
  ],
  ["npx vitest run 2>&1 | grep Tests", "      Tests  3 passed (3)\n"],
])("`%s` that shows no failure has not passed", (command, output) => {
  expect(outcome(command, output)).toEqual({})
})

test.each([
  ["pytest tests/test_nope.py 2>&1 | tail -20", noTests],
  [
    "pytest -k nope 2>&1 | tail -2",
    "\n============================ 4 deselected in 0.01s =============================\n",
  ],
  ["python -m unittest 2>&1 | tail -3", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n"],
  ["nox 2>&1 | tail -5", noxEnd],
  [
    "tox 2>&1 | tail -2",
    "  bad: FAIL code 1 (1.29=setup[0.25]+cmd[1.04] seconds)\n  evaluation failed :( (3.13 seconds)\n",
  ],
  ["pnpm test 2>&1 | tail -1", "[ELIFECYCLE] Test failed. See above for more details.\n"],
  ["npx mocha -R tap | tail -20", `not ok 1 a\n${tapEnd}`],
  ["bundle exec rspec | tail -3", "Failed examples:\n\nrspec ./spec/cart_spec.rb:2 # Cart totals\n"],
  [
    "pnpm turbo run test 2>&1 | tail -5",
    "@x/ui:test:       Tests  3 passed (3)\n Tasks:    1 successful, 2 total\nCached:    0 cached, 2 total\n  Time:    2.3s\nFailed:    @x/api#test\n",
  ],
  [
    "npx nx run-many -t test 2>&1 | tail",
    " Test Files  1 passed (1)\n      Tests  3 passed (3)\n\n NX   Ran target test for 2 projects (3s)\n\n   ✔  1/2 succeeded [0 read from cache]\n\n   ✖  1/2 targets failed, including the following:\n\n      - nx run api:test\n",
  ],
  ["npx nx test api | tail -4", "\n NX   Running target test for project api failed\n\nFailed tasks:\n\n- api:test\n"],
  [
    "ctest | tail -3",
    "\t  2 - bad (Failed)\nErrors while running CTest\nOutput from these tests are in: /app/build/LastTest.log\n",
  ],
])("`%s` has failed", (command, output) => {
  expect(outcome(command, output).verdict).toBe("fail")
})

test.each([
  ["ruff check --fix .", "Found 3 errors (3 fixed, 0 remaining).\n", false],
  ["ruff check --fix . | tail -1", "Found 3 errors (2 fixed, 1 remaining).\n", true],
  ["rubocop -A", "24 files inspected, 12 offenses detected, 12 offenses corrected\n", false],
  ["rubocop -A | tail -1", "24 files inspected, 12 offenses detected, 1 offense corrected\n", true],
])("`%s`: what a linter has corrected is no failure: %j", (command, output, failed) => {
  expect(outcome(command, output).verdict === "fail").toBe(failed)
})

test.each([
  ["pnpm turbo run test | tail -20", "@x/ui:test:  Test Files  1 passed (1)\n@x/ui:test:       Tests  3 passed (3)\n"],
  ["npx playwright test 2>&1 | tail -3", "\n  1 skipped\n  3 passed (1.2s)\n"],
  ["black --check . 2>&1 | tail -2", "All done! ✨ 🍰 ✨\n4 files would be left unchanged.\n"],
  ["ruff format --check . 2>&1 | tail -2", "4 files already formatted\n"],
  ["cargo build 2>&1 | tail -1", "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.05s\n"],
  ["cmake -B build 2>&1 | tail -1", "-- Build files have been written to: /app/build\n"],
  [
    "phpunit | tail -7",
    "There was 1 risky test:\n\n1) RTest::testOk\nThis test did not perform any assertions\n\nOK, but incomplete, skipped, or risky tests!\nTests: 2, Assertions: 0, Risky: 1.\n",
  ],
  ["npx ava 2>&1 | tail -3", "  ─\n\n  2 tests passed\n"],
  ["go test ./... 2>&1 | head -50", "ok  \texample.com/shop/cart\t0.012s\n"],
  ["npx tsc --noEmit 2>&1 | grep -E 'error|warning' | head -5", ""],
  ["npx tsc --noEmit 2>&1 | grep 'error TS'", "(no output)"],
  ["uv run mypy src | grep '^error'", ""],
])("`%s` has passed", (command, output) => {
  expect(outcome(command, output)).toEqual({ verdict: "pass" })
})

const FAILURES: [name: string, command: string, output: string, failure: string][] = [
  [
    "rspec with a pending example",
    "rspec",
    "F.*\n\nPending: (Failures listed here are expected and do not affect your suite's status)\n\n  1) Cart later\n     # Not yet implemented\n     # ./spec/a_spec.rb:4\n\nFailures:\n\n  1) Cart totals\n     Failure/Error: it(\"totals\"){ expect(1).to eq 2 }\n\n       expected: 2\n            got: 1\n\n       (compared using ==)\n     # ./spec/a_spec.rb:2:in `block (2 levels) in <top (required)>'\n\nFinished in 0.02123 seconds (files took 0.25672 seconds to load)\n3 examples, 1 failure, 1 pending\n",
    "spec/a_spec.rb:2 expected 2, got 1 (Cart totals)",
  ],
  [
    "minitest -v with a skipped test",
    "ruby -Itest test/a_test.rb -v",
    "  1) Error:\nCartTest#test_err:\nNoMethodError: undefined method `foo' for nil:NilClass\n    test/a_test.rb:4:in `test_err'\n\n  2) Skipped:\nCartTest#test_skip [test/a_test.rb:6]:\nlater\n\n3 runs, 2 assertions, 0 failures, 1 errors, 1 skips\n",
    "test/a_test.rb:4 NoMethodError: undefined method `foo' for nil:NilClass (CartTest#test_err)",
  ],
  [
    "PHPUnit with a risky test",
    "phpunit",
    "There was 1 failure:\n\n1) ATest::testA\nFailed asserting that 2 is identical to 1.\n\n/app/tests/ATest.php:4\n\n--\n\nThere was 1 risky test:\n\n1) ATest::testRisky\nThis test did not perform any assertions\n\n/app/tests/ATest.php:9\n\nFAILURES!\nTests: 3, Assertions: 2, Failures: 1, Risky: 1.\n",
    "/app/tests/ATest.php:4 Failed asserting that 2 is identical to 1. (ATest::testA)",
  ],
  [
    "PHPUnit as a list",
    "phpunit --testdox",
    "A\n ✘ Adds\n   │\n   │ Failed asserting that 2 is identical to 1.\n   │\n   │ /app/tests/ATest.php:4\n   │\n\n ✔ Ok\n\nFAILURES!\nTests: 2, Assertions: 2, Failures: 1.\n",
    "/app/tests/ATest.php:4 Failed asserting that 2 is identical to 1. (Adds)",
  ],
  [
    "jasmine with a pending spec",
    "npx jasmine",
    "Failures:\n1) cart adds\n  Message:\n    Expected 2 to be 3.\n  Stack:\n        at UserContext.<anonymous> (/app/fail.js:1:51)\nPending:\n\n1) cart later\n  Temporarily disabled with xit\n\n3 specs, 1 failure, 1 pending spec\nFinished in 0.021 seconds\n",
    "/app/fail.js:1 Message: Expected 2 to be 3. (cart adds)",
  ],
  [
    "pytest-cov",
    "pytest --cov",
    "FF\n=================================== FAILURES ===================================\n___________________________________ test_add ___________________________________\n\n>   def test_add(): assert add(1,2)==3\nE   assert -1 == 3\n\ntest_a.py:3: AssertionError\n================================ tests coverage ================================\n_______________ coverage: platform linux, python 3.11.7-final-0 ________________\n\nName        Stmts   Miss  Cover\n-------------------------------\ntest_a.py       9      1    89%\n=========================== short test summary info ============================\nFAILED test_a.py::test_add - assert -1 == 3\n1 failed, 2 passed in 0.06s\n",
    "test_a.py:3 assert -1 == 3 (test_add)",
  ],
  [
    "pytest, a module that is not there",
    "pytest",
    "==================================== ERRORS ====================================\n_________________________ ERROR collecting test_a.py __________________________\nImportError while importing test module '/app/test_a.py'.\nHint: make sure your test modules/packages have valid Python names.\nTraceback:\n/root/.pyenv/versions/3.11.7/lib/python3.11/importlib/__init__.py:126: in import_module\n    return _bootstrap._gcd_import(name[level:], package, level)\ntest_a.py:1: in <module>\n    import nosuch\nE   ModuleNotFoundError: No module named 'nosuch'\n=========================== short test summary info ============================\nERROR test_a.py\n!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n=============================== 1 error in 0.26s ===============================\n",
    "test_a.py:1 ModuleNotFoundError: No module named 'nosuch'",
  ],
  [
    "the end of it",
    "pytest 2>&1 | tail -3",
    "ERROR test_a.py\n!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n=============================== 1 error in 0.26s ===============================\n",
    "test_a.py",
  ],
  [
    "go test -v, of which each test says why",
    "go test -v ./...",
    "=== RUN   TestA\n    a_test.go:3: got 1, want 2\n--- FAIL: TestA (0.00s)\n=== RUN   TestSub\n=== RUN   TestSub/x_y\n    a_test.go:4: nope\n=== RUN   TestSub/ok\n--- FAIL: TestSub (0.00s)\n    --- FAIL: TestSub/x_y (0.00s)\n    --- PASS: TestSub/ok (0.00s)\n=== RUN   TestOK\n--- PASS: TestOK (0.00s)\nFAIL\nFAIL\texample.com/fail\t0.003s\nFAIL\n",
    "2 failed: a_test.go:3 TestA: got 1, want 2; a_test.go:4 TestSub/x_y: nope",
  ],
  [
    "a panic of a test of Go",
    "go test ./...",
    "--- FAIL: TestA (0.00s)\npanic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x6c2b40, 0x8f0b30})\n\t/usr/local/go/src/testing/testing.go:1974 +0x232\nexample.com/panic.TestA(0xc0000d2380?)\n\t/app/a_test.go:3 +0x5\nFAIL\texample.com/panic\t0.006s\nFAIL\n",
    "/app/a_test.go:3 panic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked] (TestA)",
  ],
  [
    "ctest of a program that aborts",
    "ctest",
    "    Start 1: good\n1/2 Test #1: good .............................   Passed    0.01 sec\n    Start 2: bad\n2/2 Test #2: bad ..............................Subprocess aborted***Exception:   0.01 sec\n\n50% tests passed, 1 tests failed out of 2\n",
    "bad",
  ],
  [
    "jest, with what another file logged",
    "npm test",
    "FAIL ./broken.test.js\n  ● Test suite failed to run\n\n    Cannot find module './nosuch' from 'broken.test.js'\n\n      at Object.require (broken.test.js:1:9)\n\nPASS ./ok.test.js\n  ● Console\n\n    console.error\n      Error: logged on purpose\n\n      at Object.error (ok.test.js:1:25)\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       1 passed, 1 total\n",
    "broken.test.js:1 Cannot find module './nosuch' from 'broken.test.js' (Test suite failed to run)",
  ],
  [
    "bun, a module that is not there",
    "bun test",
    "bun test v1.4.5\n\nbroken.test.js:\n\n# Unhandled error between tests\n-------------------------------\nerror: Cannot find module './nosuch' from '/app/broken.test.js'\n-------------------------------\n\n\n 0 pass\n 1 fail\n 1 error\nRan 1 test across 1 file. [8.00ms]\n",
    "Unhandled error between tests: Cannot find module './nosuch' from '/app/broken.test.js'",
  ],
  [
    "turbo",
    "npx turbo run test",
    "@x/a:test: not ok 1 - adds\n@x/a:test:   ---\n@x/a:test:   error: |-\n@x/a:test:     Expected values to be strictly equal:\n@x/a:test:     \n@x/a:test:     2 !== 3\n@x/a:test:   ...\n@x/a:test: 1..1\n@x/a:test: # tests 1\n@x/a:test: # pass 0\n@x/a:test: # fail 1\n\n Tasks:    0 successful, 1 total\nFailed:    @x/a#test\n\n ERROR  run failed: command  exited (1)\n",
    "adds: Expected values to be strictly equal:",
  ],
  [
    "next",
    "npm run build",
    "   Creating an optimized production build ...\nFailed to compile.\n\n./app/page.jsx\nModule not found: Can't resolve './nosuch'\n\nhttps://nextjs.org/docs/messages/module-not-found\n\n\n> Build failed because of webpack errors\n",
    "app/page.jsx Module not found: Can't resolve './nosuch'",
  ],
  [
    "webpack",
    "npx webpack",
    "ERROR in ./src/index.js 1:0-19\nModule not found: Error: Can't resolve './nosuch' in '/app/src'\nresolve './nosuch' in '/app/src'\n\nwebpack 5.113.0 compiled with 1 error in 1820 ms\n",
    "src/index.js:1 Module not found: Error: Can't resolve './nosuch' in '/app/src'",
  ],
  [
    "oxlint",
    "npx oxlint",
    "\n  x eslint(no-debugger): `debugger` statement is not allowed\n   ,-[bad.js:3:15]\n 2 | console.log(1)\n\nFound 2 warnings and 1 error.\n",
    "bad.js:3 eslint(no-debugger): `debugger` statement is not allowed",
  ],
  [
    "stylelint",
    "npx stylelint a.css",
    '\na.css\n  1:12  ✖  Expected "#FFFFFF" to be "#FFF"  color-hex-length\n\n✖ 1 problem (1 error, 0 warnings)\n',
    'a.css:1 Expected "#FFFFFF" to be "#FFF" (color-hex-length)',
  ],
  [
    "ty",
    "uvx ty check",
    'error[invalid-return-type]: Return type does not match returned value\n --> bad.py:5:12\n  |\n5 |     return "s"\n\nFound 1 diagnostic\n',
    "bad.py:5 Return type does not match returned value",
  ],
  [
    "ruff, a file it cannot parse",
    "ruff check",
    "invalid-syntax: Expected a parameter or the end of the parameter list\n --> bad.py:1:7\n  |\n1 | def f(:\n  |       ^\n\nFound 1 error.\n",
    "bad.py:1 invalid-syntax: Expected a parameter or the end of the parameter list",
  ],
  [
    "a raised error under ExUnit",
    "mix test",
    "  1) test checkout/1 (Shop.CheckoutTest)\n     test/checkout_test.exs:8\n     ** (KeyError) key :price not found in: %{}\n     code: Checkout.run(cart)\n     stacktrace:\n       lib/checkout.ex:22: Checkout.run/1\n\n1 test, 1 failure\n",
    "test/checkout_test.exs:8 ** (KeyError) key :price not found in: %{} (test checkout/1 (Shop.CheckoutTest))",
  ],
  [
    "hspec",
    "cabal test",
    "Failures:\n\n  test/CartSpec.hs:14:20: \n  1) Cart.total adds\n       expected: 849\n        but got: 84900\n\n1 example, 1 failure\n",
    "Cart.total adds: expected 849, got 84900",
  ],
  [
    "GHC, whose message is below the place",
    "cabal build",
    'src/Cart.hs:14:12: error: [GHC-83865]\n    • Couldn\'t match expected type ‘Int’ with actual type ‘[Char]’\n    • In the expression: "a"\nError: cabal: Failed to build shop-0.1.0.0.\n',
    "src/Cart.hs:14 Couldn't match expected type ‘Int’ with actual type ‘[Char]’",
  ],
  [
    "scalac under sbt",
    "sbt compile | tail",
    "[error] /app/src/Cart.scala:14:12: type mismatch;\n[error]  found   : String\n[error] one error found\n[error] (Compile / compileIncremental) Compilation failed\n",
    "/app/src/Cart.scala:14 type mismatch;",
  ],
  [
    "Scala 3 under sbt",
    "sbt compile",
    '[error] -- [E007] Type Mismatch Error: /app/src/Cart.scala:14:12 -----\n[error] 14 |    "a"\n[error] one error found\n',
    "/app/src/Cart.scala:14 [E007] Type Mismatch Error",
  ],
  [
    "ScalaTest under sbt",
    "sbt test | tail -20",
    "[info] - should add *** FAILED ***\n[info]   84900 did not equal 849 (CartSpec.scala:14)\n[info] Tests: succeeded 1, failed 1, canceled 0, ignored 0, pending 0\n[error] Failed tests:\n[error] \tshop.CartSpec\n",
    "CartSpec.scala:14 84900 did not equal 849 (CartSpec.scala:14) (should add)",
  ],
  [
    "MUnit under sbt",
    "sbt test | tail -20",
    '==> X shop.CartSuite.adds  0.02s munit.ComparisonFailException: /app/CartSuite.scala:9\n8:  test("adds") {\n[error] Failed: Total 2, Failed 1, Errors 0, Passed 1\n',
    "shop.CartSuite.adds: munit.ComparisonFailException: /app/CartSuite.scala:9",
  ],
  [
    "msbuild, which repeats an error in its summary",
    "dotnet build",
    "/app/Cart.cs(14,5): error CS0103: The name 'a' does not exist [/app/a.csproj]\n\nBuild FAILED.\n\n/app/Cart.cs(14,5): error CS0103: The name 'a' does not exist [/app/a.csproj]\n    0 Warning(s)\n    1 Error(s)\n",
    "/app/Cart.cs:14 CS0103: The name 'a' does not exist",
  ],
  [
    "msbuild, for two targets",
    "dotnet build",
    "/app/Cart.cs(14,5): error CS0103: The name 'a' does not exist [/app/a.csproj::TargetFramework=net8.0]\n\nBuild FAILED.\n",
    "/app/Cart.cs:14 CS0103: The name 'a' does not exist",
  ],
  [
    "rubocop",
    "rubocop",
    'Offenses:\n\napp/cart.rb:14:5: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings.\n    "a"\n    ^^^\n\n24 files inspected, 1 offense detected, 1 offense autocorrectable\n',
    "app/cart.rb:14 Style/StringLiterals: Prefer single-quoted strings.",
  ],
  [
    "psql, which goes on after an error",
    "psql -f a.sql | cat",
    'BEGIN\npsql:a.sql:14: ERROR:  column "price" of relation "products" already exists\nROLLBACK\n',
    'a.sql:14 column "price" of relation "products" already exists',
  ],
  [
    "prove",
    "prove -lv t/",
    "not ok 2 - adds\n\n#   Failed test 'adds'\n#   at t/cart.t line 14.\n#          got: '84900'\n#     expected: '849'\n1..2\n# Looks like you failed 1 test of 2.\nFiles=1, Tests=2,  0 wallclock secs\nResult: FAIL\n",
    "adds: expected '849', got '84900'",
  ],
  [
    "the end of it",
    "prove -l t/ | tail -4",
    "t/cart.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)\n  Failed test:  2\nFiles=1, Tests=2,  0 wallclock secs\nResult: FAIL\n",
    "t/cart.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)",
  ],
  [
    "ctest of a program that crashes and one that hangs",
    "ctest",
    "1/2 Test #1: cart .............................***Exception: SegFault  0.11 sec\n2/2 Test #2: user .............................***Timeout   1.50 sec\n\n0% tests passed, 2 tests failed out of 2\n",
    "2 failed: cart: Exception: SegFault; user: Timeout",
  ],
  [
    "a test in a build of Docker",
    "docker build . | tail",
    '#9 5.311 not ok 1 adds\n#9 5.311   ---\n#9 5.311   error: 2 !== 3\n#9 5.312 1..1\n#9 ERROR: process "/bin/sh -c npm test" did not complete successfully: exit code: 1\nERROR: failed to solve: process "/bin/sh -c npm test" did not complete successfully: exit code: 1\n',
    "adds: 2 !== 3",
  ],
  [
    "two equal errors of one line",
    "tsc",
    "src/a.ts(1,2): error TS2304: Cannot find name 'x'.\nsrc/a.ts(1,9): error TS2304: Cannot find name 'x'.\n",
    "src/a.ts:1 TS2304: Cannot find name 'x'. (2 errors)",
  ],
  [
    "a script that Corepack announces",
    "pnpm build",
    "! Corepack is about to download https://example.com/pnpm-8.tgz\nerror during build:\nRollupError: could not resolve\n",
    "RollupError: could not resolve",
  ],
  [
    "TeX",
    "latexmk -pdf main.tex",
    "(./main.tex\n! Undefined control sequence.\nl.14 \\inlcude\nLatexmk: Errors, so I did not complete making targets\n",
    "! Undefined control sequence.",
  ],
  [
    "meson",
    "meson test -C build",
    "1/2 good OK              0.18s\n2/2 bad  FAIL            0.12s   killed by signal 6 SIGABRT\n\nOk:                 1   \nExpected Fail:      0   \nFail:               1   \nUnexpected Pass:    0   \nTimeout:            0   \n",
    "2/2 bad FAIL 0.12s killed by signal 6 SIGABRT",
  ],
]

test.each(FAILURES)("%s: the failure is the right one", (_, command, output, failure) => {
  expect(outcome(command, output, command.includes("|") ? 0 : 1)).toEqual({ verdict: "fail", failure })
})
