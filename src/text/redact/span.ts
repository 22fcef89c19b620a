// What every finder of secrets does, and what stands where a secret stood.

export const MARK = "[redacted]"

/** Names the spans of a text that hold secrets, in any order; they may overlap. Linear in the text's length. */
export type Find = (text: string, report: (from: number, to: number) => void) => void
