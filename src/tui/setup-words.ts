// What the setup dialog says of the command line's progress.

import { fit } from "./text.ts"

export type SetupStep = { number: 1 | 2 | 3; what: string; share?: number; last: string }

/** How far the setup has come after one more line of its output. */
export function nextStep(before: SetupStep | undefined, line: string): SetupStep {
  const share = /\b(\d{1,3})% of /.exec(line)?.[1]
  if (line.startsWith("engine:")) return { number: 1, what: "installing the engine", last: line }
  if (line.startsWith("testing") || before?.number === 3) return { number: 3, what: "testing the model", last: line }
  if (line.startsWith("model:") || line.startsWith("model "))
    return { number: 2, what: "fetching the model", last: line, ...(share ? { share: Number(share) / 100 } : {}) }
  return before ? { ...before, last: line } : { number: 1, what: "installing the engine", last: line }
}

const BAR_COLUMNS = 30

/** One line: the step, and a bar where its share is known. */
export function stepWords({ number, what, share }: SetupStep, width: number): string {
  const words = `step ${number} of 3: ${what}`
  if (share === undefined) return fit(words, width)
  const full = Math.round(share * BAR_COLUMNS)
  return fit(`${words}  ${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)} ${Math.floor(share * 100)}%`, width)
}
