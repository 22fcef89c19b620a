// How numbers are written for people and models: counts, tokens, shares, money, sizes and times.

/** `1 call`, `2 calls`; `2+ calls` when the count is a lower bound. */
export function plural(count: number, noun: string, isLowerBound = false): string {
  if (count === 1 && !isLowerBound) return `1 ${noun}`
  const many = noun.replace(/(?<=[^aeiou])y$/, "ie").replace(/(?<=ch|sh|s|x)$/, "e")
  return `${count}${isLowerBound ? "+" : ""} ${many}s`
}

/** `12 steps, 3 outputs`: what was folded; empty when nothing was. */
export function stepsAndOutputs({ steps, outputs }: { steps: number; outputs: number }): string {
  return [steps > 0 && plural(steps, "step"), outputs > 0 && plural(outputs, "output")].filter(Boolean).join(", ")
}

/** `steps 3-41`, or `step 3`. */
export function stepRange(from: number, to: number): string {
  return from === to ? `step ${from}` : `steps ${from}-${to}`
}

/** Why something was folded. */
export const REASON_WORDS = { free: "at no cost", pays: "to save", must: "to make room", asked: "on request" }

/** Tokens: 950, 8.7k, 87k, 1.2M, 1.2B, -8.7k */
export function amount(tokens: number): string {
  if (tokens <= -0.5) return `-${amount(-tokens)}`
  if (tokens < 999.5) return `${Math.round(tokens)}`
  if (tokens < 9_950) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return tokens < 999.95e6 ? `${(tokens / 1e6).toFixed(1)}M` : `${(tokens / 1e9).toFixed(1)}B`
}

/** A share in whole percent: 0%, 38%. A share of nothing is 0%. */
export function percent(share: number): string {
  return `${Number.isFinite(share) ? Math.round(100 * share) : 0}%`
}

/** As `percent`, with one decimal below 10: 0.4%, 9.5%, 38%. */
export function finePercent(share: number): string {
  const percents = Number.isFinite(share) ? 100 * share : 0
  return percents < 9.95 ? `${Number(percents.toFixed(1))}%` : percent(share)
}

/** Four decimals below ten cents, since a single call may cost less than a cent: $0.0421, -$1.20; $0 if none shows. */
export function dollars(usd: number): string {
  const size = Math.abs(usd)
  const written = size.toFixed(size < 0.1 ? 4 : 2)
  return Number(written) === 0 ? "$0" : `${usd < 0 ? "-" : ""}$${written}`
}

/** 12 kB, 380 MB, 1.2 GB */
export function byteSize(bytes: number): string {
  if (bytes >= 999.5e6) return `${(bytes / 1e9).toFixed(1)} GB`
  return bytes > 999e3 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`
}

/** 0.4 s, 20 s */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** How long ago, in the largest unit that is not zero. */
export function ago(ms: number): string {
  const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000 }
  const [name, size] = Object.entries(units).find(([, size]) => ms >= size) ?? ["second", 1000]
  return `${plural(Math.max(0, Math.floor(ms / size)), name)} ago`
}

/** A word or path, quoted for a shell if necessary. */
export function inShell(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
