// What another plugin has put into the array before this one sees it, and what of it is no tool's output and no user's
// word. DCP (@tarquinen/opencode-dcp) is the one that users run beside this; its marks are as seen in requests of 3.1.14.

/** The name of a message, behind its texts and its tool outputs: by it the agent tells DCP what to compress. */
const MARK = /\n?<dcp-message-id>[mb]\d{1,6}<\/dcp-message-id>$/
const LONGEST_MARK = 60
/** Stands where an output was: that it was removed, and in whatever words why. */
const REMOVED = /^\[Output removed\b[^\n\]]{0,160}\]$/
/** Ids of parts that the user did not write: summaries and reminders. */
const PART_ID = "prt_dcp_"

/** The mark at a text's end, with the line feed that sets it apart; empty when there is none. */
export function markOf(text: string): string {
  return MARK.exec(text.slice(-LONGEST_MARK))?.[0] ?? ""
}

export function withoutMark(text: string): string {
  const mark = markOf(text)
  return mark === "" ? text : text.slice(0, -mark.length)
}

/** Whether an output, its mark aside, was taken out and is not there to be folded, counted or shown. */
export function isRemoved(output: string): boolean {
  return REMOVED.test(output)
}

export function isForeign(partID: string | undefined): boolean {
  return partID?.startsWith(PART_ID) ?? false
}
