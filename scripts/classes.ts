// The classes of docs/reliability.md: what each proves, and the test files that prove it. The files lie in the rooms they
// guard; `test/classes.test.ts` checks that each exists and that every file sized for `npm run prove` has a class.

import type { FileOutcome } from "./junit.ts"

export type Class = {
  name: string
  /** what holds when its cases pass, as docs/reliability.md says it */
  proves: string
  /** test files, from the project's root */
  tests: readonly string[]
  /** a program that prints one line of JSON per case, `{case, passed, figure}`; only `npm run prove` runs it */
  bench?: readonly string[]
}

export const CLASSES: readonly Class[] = [
  {
    name: "hostile text",
    proves: "nothing in outputs, names, todos or a model's answer closes or forges the HUD, a fold line or a recall id",
    tests: [
      "test/text/hostile.test.ts",
      "test/hud/hostile.test.ts",
      "test/fold/hostile.test.ts",
      "test/digest/hostile.test.ts",
      "test/store/hostile.test.ts",
      "test/host/hostile.test.ts",
      "test/host/nested.test.ts",
      "test/host/own-messages.test.ts",
      "test/engine/hostile.test.ts",
    ],
  },
  {
    name: "episodes",
    proves:
      "folded steps lose no user's word and no call's result, keep their bytes, suit every provider's roles, come back verbatim",
    tests: ["test/request/episodes.property.test.ts", "test/e2e/episodes.test.ts", "test/e2e/wires.test.ts"],
  },
  {
    name: "secrets",
    proves: "planted secrets reach no digest, HUD, store, log, report or bundle; recall gives the original back",
    tests: [
      "test/text/redact.test.ts",
      "test/text/rules.test.ts",
      "test/text/secretlint.test.ts",
      "test/text/withheld.test.ts",
      "test/secrets/corpus.test.ts",
      "test/host/secrets.test.ts",
      "test/e2e/secrets.test.ts",
    ],
  },
  {
    name: "files and processes",
    proves: "files are private, nothing listens, models are verified, the child has no credentials",
    tests: [
      "test/system/modes.test.ts",
      "test/system/links.test.ts",
      "test/system/shared-folder.test.ts",
      "test/system/earlier-version.test.ts",
      "test/store/paths.test.ts",
      "test/store/store-path.test.ts",
      "test/digest/address.test.ts",
      "test/setup/installer.test.ts",
      "test/engine/model.test.ts",
      "test/engine/child.test.ts",
      "test/engine/host-launch.test.ts",
      "test/e2e/ports.test.ts",
    ],
  },
  {
    name: "faults",
    proves: "whatever fails, at whichever step: the turn ends as without the plugin, and nothing is lost",
    tests: [
      "test/host/clock.test.ts",
      "test/host/client-faults.test.ts",
      "test/host/file-faults.test.ts",
      "test/host/hash-faults.test.ts",
      "test/host/late-store.test.ts",
      "test/host/guard.test.ts",
      "test/store/statement-faults.test.ts",
      "test/store/failures.test.ts",
      "test/digest/server-faults.test.ts",
      "test/engine/sidecar-faults.test.ts",
      "test/setup/disk-full.test.ts",
      "test/setup/download.test.ts",
      "test/setup/lock.test.ts",
      "test/e2e/faults.test.ts",
      "test/e2e/store-faults.test.ts",
      "test/e2e/sidecar-faults.test.ts",
      "test/e2e/interruptions.test.ts",
      "test/e2e/orphans.test.ts",
    ],
  },
  {
    name: "load",
    proves:
      "many sessions, long ones, large outputs, two processes: each gets its own, and memory stays within its limit",
    tests: [
      "test/host/bounds.test.ts",
      "test/host/many-sessions.test.ts",
      "test/host/long-session.test.ts",
      "test/host/large-outputs.test.ts",
      "test/host/soak.test.ts",
      "test/store/created-twice.test.ts",
      "test/e2e/shared-store.test.ts",
      "test/e2e/two-processes.test.ts",
    ],
    bench: ["bench/soak.ts", "--json"],
  },
  {
    name: "harnesses",
    proves: "programs that drive OpenCode see the same events with the plugin as without",
    tests: [
      "test/e2e/harness/run.test.ts",
      "test/e2e/harness/http.test.ts",
      "test/e2e/password.test.ts",
      "test/e2e/untouched.test.ts",
    ],
  },
  {
    name: "neighbours",
    proves: "beside other plugins, well-behaved or not, the HUD is there once and nothing of theirs is lost",
    tests: [
      "test/host/neighbours.test.ts",
      "test/host/dcp-marks.test.ts",
      "test/e2e/neighbours.test.ts",
      "test/e2e/dcp.test.ts",
    ],
  },
  {
    name: "sessions",
    proves:
      "in random sessions and for every kind of model: the HUD is last and once, and every fold comes back verbatim",
    tests: [
      "test/fold/property.test.ts",
      "test/replay/sent.test.ts",
      "test/host/arrays.test.ts",
      "test/request/contract.test.ts",
      "test/e2e/folds.test.ts",
      "test/e2e/recall.test.ts",
      "test/e2e/slots.test.ts",
      "test/e2e/random-sessions.test.ts",
    ],
  },
  {
    name: "screens",
    proves: "the panel, the prompt's line and the commands show on OpenCode's screen what is so",
    tests: ["test/e2e/panel.test.ts"],
  },
  {
    name: "supply chain",
    proves: "what ships is what is meant to ship, under licences that allow it",
    tests: [
      "test/package/installed.test.ts",
      "test/package/pack.test.ts",
      "test/package/entries.test.ts",
      "test/package/locks.test.ts",
      "test/package/licenses.test.ts",
      "test/package/decisions.test.ts",
    ],
  },
]

/** The class a test file belongs to. */
export function classOf({ file }: Pick<FileOutcome, "file">): Class | undefined {
  return CLASSES.find(({ tests }) => tests.includes(file))
}
