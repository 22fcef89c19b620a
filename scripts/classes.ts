// The classes of docs/reliability.md: what each proves, and by which tests.

import type { FileOutcome } from "./junit.ts"

export type Class = {
  name: string
  /** what holds when its cases pass, as docs/reliability.md says it */
  proves: string
  /** files and folders of tests, from the project's folder */
  tests: readonly string[]
  /** a program that prints one line of JSON a case, `{case, passed, figure}`; only `npm run prove` runs it */
  bench?: readonly string[]
}

export const CLASSES: readonly Class[] = [
  {
    name: "hostile text",
    proves: "nothing in outputs, names, todos or a model's answer closes or forges the HUD, a fold line or a recall id",
    tests: ["test/trust/hostile"],
  },
  {
    name: "secrets",
    proves: "planted secrets reach no digest, HUD, store, log, report or bundle; recall gives the original back",
    tests: ["test/trust/secrets"],
  },
  {
    name: "files and processes",
    proves: "files are private, nothing listens, models are verified, the child has no credentials",
    tests: ["test/trust/files", "test/store/paths.test.ts", "test/engine/host-launch.test.ts"],
  },
  {
    name: "faults",
    proves: "whatever fails, at whichever step: the turn ends as without the plugin, and nothing is lost",
    tests: [
      "test/trust/faults",
      "test/store/failures.test.ts",
      "test/host/guard.test.ts",
      "test/e2e/faults.test.ts",
      "test/e2e/sidecar-faults.test.ts",
      "test/e2e/interruptions.test.ts",
      "test/e2e/orphans.test.ts",
      "test/setup/download.test.ts",
      "test/setup/hold.test.ts",
    ],
  },
  {
    name: "load",
    proves: "many sessions, long ones, large outputs, two processes: each gets its own, and memory stays flat",
    tests: ["test/trust/load", "test/e2e/two-processes.test.ts"],
    bench: ["bench/soak.ts", "--json"],
  },
  {
    name: "harnesses",
    proves: "programs that drive OpenCode see the same events with the plugin as without",
    tests: ["test/trust/harness", "test/e2e/untouched.test.ts"],
  },
  {
    name: "neighbours",
    proves: "beside other plugins, well-behaved or not, the HUD is there once and nothing of theirs is lost",
    tests: ["test/trust/neighbours"],
  },
  {
    name: "supply chain",
    proves: "what ships is what is meant to ship, under licences that allow it",
    tests: ["test/trust/supply", "test/package.test.ts"],
  },
]

/** The class a test file belongs to. */
export function classOf({ file }: Pick<FileOutcome, "file">): Class | undefined {
  return CLASSES.find(({ tests }) => tests.some((path) => file === path || file.startsWith(`${path}/`)))
}
