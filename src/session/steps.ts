// Which of a session's steps are settled, which are open, and why. A step is settled when none of its content
// is likely to be needed verbatim soon. This is decided from its age, whether the files it edited are in use, and whether its
// edits were checked. It opens again when its files are edited again.

import type { Shows } from "../output/shows.ts"
import type { Entry } from "./entry.ts"
import type { Facts } from "./facts.ts"
import type { ToolEvent } from "./tool-event.ts"

export type Step = {
  entry: Entry
  /** index of its entry */
  index: number
  /** why it is not settled, without names and numbers, so that equal reasons can be counted; undefined when it is */
  open: string | undefined
  /** its outputs that are no longer wanted verbatim, oldest first; of an open step, these alone may be folded */
  settledOutputs: readonly SettledOutput[]
} & Settled

/** Why a step or an output is settled, and for how many steps; of an open step, why a part of it is. */
export type Settled = { because: string; settledFor: number }

type SettledOutput = { event: ToolEvent } & Settled

// All of these were measured by replaying the sessions of `check` and `tune`; decision 030 has what is not said here. A point is a
// percent of what the sessions cost without the plugin.

/** The newest steps are never settled: the agent is in the middle of them. */
export const MIN_SETTLED_AGE = 6
/**
 * Steps after which a step may be settled whose outputs no longer matter. 6 save 0.1 to 0.2 points, for 0.25 more recalls of 100
 * calls on `tune`; 10 cost 0.2 to 0.3 points more.
 */
export const SETTLED_AGE = 8

/** Steps for which an output is wanted verbatim, whatever it shows, at any scale but 0: the agent has only just seen it. */
export const OUTPUT_STEPS = 2
/** The same of an edit's arguments. 8 change nothing on `check`, and save 0.1 points for 0.2 more recalls on `tune`. */
const EDIT_STEPS = 10
/** Steps for which what was recalled by the agent, or unfolded by the user, is kept whole. */
export const KEPT_WHOLE_STEPS = 12
/** Wanted steps of an edit once a check has passed. 10, as without one, cost 0.4 to 0.6 points more. */
export const CHECKED_STEPS = 6
/** Factor for an edit whose file is in use. */
const IN_USE_FACTOR = 5
/** Steps after its last edit for which a file is in use. */
export const EDITED_STEPS = 14

/**
 * The steps from the entry at index `first` on, without those that are folded already, newest first. Steps are settled sooner
 * at a smaller scale: 1 normally, less when room is needed.
 */
export function stepsOf(
  entries: readonly Entry[],
  facts: Facts,
  { scale, first, isFolded }: { scale: number; first: number; isFolded(entry: Entry): boolean },
): Step[] {
  const later: Later = { passed: false, hasTodos: false, hasPlan: false }
  const steps: Step[] = []
  let age = 0
  for (let index = entries.length - 1; index >= first; index--) {
    const entry = entries[index] as Entry
    if (entry.kind !== "step") continue
    // a failed step is not sent, and without an id nothing can be put in a step's place
    if (entry.blocks > 0 && entry.id !== "" && !isFolded(entry))
      steps.push({ entry, index, ...settlementOf(entry, age, facts, later, scale) })
    for (const { status, kind, ok, isCheck } of entry.events) {
      if (status !== "completed") continue
      later.hasTodos ||= kind === "todo"
      later.passed ||= ok && isCheck
    }
    later.hasPlan ||= holdsPlan(entry)
    age++
  }
  return steps
}

/** What came after a step: a check that passed, a todo list, a plan. */
type Later = { passed: boolean; hasTodos: boolean; hasPlan: boolean }

/** Whether a step is a text without calls by OpenCode's agent `plan`: a plan, which another agent carries out. */
function holdsPlan({ agent, blocks, events }: Entry): boolean {
  return agent === "plan" && blocks > 0 && events.length === 0
}

function settlementOf(entry: Entry, age: number, facts: Facts, later: Readonly<Later>, scale: number) {
  const { events, opaque } = entry
  let settledFor = age - Math.max(MIN_SETTLED_AGE, SETTLED_AGE * scale)
  let open = settledFor < 0 ? "among the newest" : undefined
  let because = events.length === 0 ? "an earlier text" : ""
  const settledOutputs: SettledOutput[] = []
  for (const event of events) {
    const { shows } = event
    if (event.outputHash === undefined && !event.cleared) {
      // the next step comes when all calls are done, so an older one was interrupted
      if (age === 0) open = "a call has not finished"
      because ||= "an interrupted call"
      continue
    }
    if (shows === "answer") {
      if (event.kind !== "todo") open = "it holds an answer"
      else if (!later.hasTodos) open = "it holds the newest todo list"
      because ||= "an older todo list"
      continue
    }
    const isEdit = shows === "change"
    const isUsed = isEdit && isInUse(event, facts)
    const isChecked = isEdit && later.passed
    const holdsRecall = shows === "recalled"
    const editSteps = (isChecked ? CHECKED_STEPS : EDIT_STEPS) * (isUsed ? IN_USE_FACTOR : 1)
    const wantedSteps = (isEdit ? editSteps : holdsRecall ? KEPT_WHOLE_STEPS : OUTPUT_STEPS) * scale
    const minSteps = holdsRecall ? MIN_SETTLED_AGE : scale > 0 ? OUTPUT_STEPS : 1
    const settledAge = Math.max(minSteps, wantedSteps)
    let why = isChecked ? "an edit that a check passed since" : SETTLED[shows]
    if (event.error !== undefined) why = "a failed call"
    if (age >= settledAge) {
      if (!isEdit) settledOutputs.push({ event, because: why, settledFor: age - settledAge })
    } else if (holdsRecall) open = "it holds a recall"
    else if (isUsed) open = "its file was edited lately"
    settledFor = Math.min(settledFor, age - wantedSteps)
    because ||= why
  }
  if (holdsPlan(entry) && !later.hasPlan) open = "it holds the newest plan"
  if (opaque) open = "it holds what hud_recall cannot return"
  return { open, because, settledFor, settledOutputs }
}

/** Why a call with such an output is settled, in words. */
const SETTLED: Readonly<Record<Exclude<Shows, "answer">, string>> = {
  file: "a file that was read",
  matches: "an older search",
  listing: "an older listing",
  run: "an older command",
  page: "a web page that was read",
  other: "an older call",
  change: "an older edit",
  recalled: "recalled a while ago",
}

/**
 * Whether a file of an edit is in use. Outputs that only show such a file are not kept longer: the agent reads the part it
 * edits again, or sees it in the edit.
 */
function isInUse({ files }: ToolEvent, facts: Facts): boolean {
  return files.some(({ path }) => {
    const editedAt = facts.files.get(path)?.editedAt ?? 0
    return editedAt > 0 && facts.calls - editedAt < EDITED_STEPS
  })
}
