// What stands in a request in place of what is folded: digest lines in place of outputs, and records in place of steps.

import { type HostMessage, type HostPart, isOwnMessage, OWN_PART } from "../../src/host/v1/message.ts"

/** The line in place of an output; its first group is the recall id. */
export const FOLDED = /^folded (r[0-9a-z]{7}) · /

const RECORD =
  /^Steps? (\d+)(?:-(\d+))? of this session, kept by hudfold as a record \(hud_recall with steps "([\d-]+)" returns them verbatim\):/

export type Steps = { from: number; to: number }

/** The numbers of the steps that a text is the record of; undefined when it is none. */
export function recordedSteps(text: string | undefined): Steps | undefined {
  const [, from, to = from, asked] = RECORD.exec(text ?? "") ?? []
  if (from === undefined || asked !== (from === to ? from : `${from}-${to}`)) return
  return { from: Number(from), to: Number(to) }
}

/** Whether the plugin put this part in, as a record. */
export function isRecordPart(part: HostPart): boolean {
  return part.id === OWN_PART && recordedSteps(part.text) !== undefined
}

/** The lines in place of outputs, by part id. */
export function outputFoldsIn(messages: readonly HostMessage[]): Map<string, string> {
  const folded = messages.flatMap(({ parts }) => parts).filter(({ state }) => FOLDED.test(replacedText(state) ?? ""))
  return new Map(folded.map(({ id = "", state }) => [id, replacedText(state) ?? ""]))
}

function replacedText(state: HostPart["state"]): string | undefined {
  const text = state?.status === "error" ? state.error : state?.output
  return typeof text === "string" ? text : undefined
}

/** The recall id in the line of a folded output. */
export function idIn(line: string | undefined): string {
  return FOLDED.exec(line ?? "")?.[1] ?? ""
}

/** All records in a request, in order. */
export function recordsIn(messages: readonly HostMessage[]): string[] {
  return messages.flatMap(({ parts }) => parts.filter(isRecordPart).map(({ text = "" }) => text))
}

/** The ids of the agent's messages that are not in the request, as records stand in their place. */
export function stepsGone(given: readonly HostMessage[], sent: readonly HostMessage[]): Set<string> {
  const left = new Set(sent.map(({ info }) => info.id))
  const gone = given.filter(({ info }) => info.role === "assistant" && !left.has(info.id))
  return new Set(gone.map(({ info }) => info.id ?? ""))
}

/** What stands in the place of each folded output, by part id, and of each folded step, by message id. */
export function foldsIn(given: readonly HostMessage[], sent: readonly HostMessage[]): Map<string, string> {
  const lines = new Map<number, string>()
  for (const record of recordsIn(sent)) {
    let { from: step } = recordedSteps(record) ?? { from: 0 }
    for (const line of record.split("\n").slice(1)) {
      step = Math.max(step, Number(/^(\d+) /.exec(line)?.[1] ?? 0))
      lines.set(step, [...(lines.has(step) ? [lines.get(step)] : []), line].join("\n"))
    }
  }
  const numbers = recordsIn(sent).flatMap(stepNumbers)
  const steps = [...stepsGone(given, sent)].map((id, at): [string, string] => [id, lines.get(numbers[at] ?? 0) ?? ""])
  return new Map([...outputFoldsIn(sent), ...steps])
}

/** The numbers of all steps in a record. */
export function stepNumbers(record: string): number[] {
  const steps = recordedSteps(record)
  return steps ? Array.from({ length: steps.to - steps.from + 1 }, (_, at) => steps.from + at) : []
}

/**
 * Describes every part of a request, without its HUD, that was lost, added or half changed. Only this may be different: an
 * output is a digest line, and adjacent steps are a record, in a user message of its own or in the user's before or after it.
 */
export function wrongIn(given: readonly HostMessage[], sent: readonly HostMessage[]): string[] {
  const found: string[] = []
  let next = 0
  for (const [at, message] of sent.entries()) {
    const { info, parts } = message
    const isOwn = isOwnMessage(message)
    const neighbours = [sent[at - 1], sent[at + 1]]
    if (isOwn && !(parts.length === 1 && parts.every(isRecordPart))) found.push(`${info.id} is no record`)
    if (isOwn && neighbours.some((one) => one?.info.role === "user"))
      found.push(`${info.id} is beside the user's message`)
    let whole: HostMessage | undefined
    let rest: readonly HostPart[] = parts
    while (rest.length > 0) {
      const [first] = rest as [HostPart]
      if (isRecordPart(first)) {
        for (const step of stepNumbers(first.text ?? ""))
          if (given[next++]?.info.role !== "assistant") found.push(`the record's step ${step} is no step`)
        if (info.role !== "user") found.push(`a record is in ${info.id}, of the ${info.role}`)
        rest = rest.slice(1)
        continue
      }
      whole = given[next++]
      if (!whole) return [...found, `${info.id} has parts that are nowhere in the session`]
      found.push(...partsWrong(whole, rest.slice(0, whole.parts.length)))
      if (whole.parts.length === 0) continue
      rest = rest.slice(whole.parts.length)
      if (rest.length > 0 && !isRecordPart(rest[0] as HostPart)) found.push(`${info.id} has parts that are not its own`)
    }
    if (parts.length === 0) whole = given[next++]
    // of user messages that became one, the last
    if (!isOwn && !Bun.deepEquals(info, whole?.info)) found.push(`message ${whole?.info.id} is another`)
  }
  if (next !== given.length) found.push(`of ${given.length} messages ${next} are accounted for`)
  return found
}

function partsWrong({ info, parts }: HostMessage, now: readonly HostPart[]): string[] {
  if (now.length !== parts.length) return [`${info.id} has ${now.length} parts of ${parts.length}`]
  return parts.flatMap((part, n) => {
    const other = now[n]
    return other && (Bun.deepEquals(other, part) || isFoldOf(other, part)) ? [] : [`part ${part.id} is half changed`]
  })
}

/** Only the output differs, and it is a digest line with a recall id. */
function isFoldOf(now: HostPart, part: HostPart): boolean {
  const status = part.state?.status
  if (now.type !== "tool" || (status !== "completed" && status !== "error")) return false
  if (!FOLDED.test(replacedText(now.state) ?? "")) return false
  const field = status === "error" ? "error" : "output"
  return Bun.deepEquals({ ...now, state: { ...now.state, [field]: part.state?.[field] } }, part)
}
