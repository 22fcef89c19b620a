// The progress of a download or a long computation. On a terminal it is one line that is redrawn; elsewhere a download of
// known size prints a line for every tenth. Clack's spinner is not used: it takes over the keyboard, and on Ctrl-C it ends
// the process with exit code 0 before anything can be cleaned up.
import { byteSize, percent } from "../text/format.ts"
import { escapedLine, isScreen } from "./terminal.ts"

type Output = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">

const DRAW_INTERVAL_MS = 100

type ProgressOptions = {
  /** writes what is counted, by default bytes */
  amount?: (count: number) => string
  /** show it on a terminal only, and from this time on */
  onScreenFromMs?: number
  now?: () => number
}

export function startProgress(output: Output, label: string, options: ProgressOptions = {}) {
  const { amount = byteSize, onScreenFromMs, now = Date.now } = options
  const name = escapedLine(label)
  let tenths = -1
  let drawn: number | undefined
  let first: { at: number; done: number } | undefined
  const printLine = (text: string, share: number) => {
    if (onScreenFromMs !== undefined || !(Math.floor(share * 10) > tenths)) return
    tenths = Math.floor(share * 10)
    output.write(`${text}\n`)
  }
  return {
    update(done: number, total: number | undefined) {
      // rounded down, so that 100% means complete
      const said = total ? `${percent(Math.floor((done / total) * 100) / 100)} of ${amount(total)}` : amount(done)
      const text = `${name} ${said}`
      if (!isScreen(output)) return printLine(text, done / (total || Number.NaN))
      const at = now()
      if (onScreenFromMs !== undefined && at < onScreenFromMs) return
      first ??= { at, done }
      if (drawn !== undefined && at - drawn < DRAW_INTERVAL_MS && done !== total) return
      drawn = at
      const perSecond = ((done - first.done) / Math.max(1, at - first.at)) * 1000
      const seconds = Math.ceil(((total ?? 0) - done) / perSecond)
      const time = seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
      const left = total && perSecond > 0 ? `, ${time} left` : ""
      output.write(`\r\u001b[2K${`${text}${left}`.slice(0, (output.columns || 80) - 1)}`)
    },
    end() {
      if (drawn !== undefined) output.write("\r\u001b[2K")
      drawn = undefined
    },
  }
}
