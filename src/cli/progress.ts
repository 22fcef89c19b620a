// The progress of a download or a long computation. On a terminal it is one line that is redrawn; elsewhere a download of
// known size prints a line for every tenth. Clack's spinner is not used: it takes over the keyboard, and on Ctrl-C it ends
// the process with exit code 0 before anything can be cleaned up.
import type { DownloadOptions } from "../setup/download.ts"
import { byteSize, percent } from "../text/format.ts"
import { escapedLine } from "./terminal.ts"

type Progress = {
  update(done: number, total: number | undefined): void
  end(): void
}

/** Shows the progress of `work`, and prints a line when it retries a connection. */
export async function withProgress<T>(
  output: Output,
  label: string,
  work: (callbacks: Required<Pick<DownloadOptions, "onProgress" | "onRetry">>) => Promise<T>,
): Promise<T> {
  const progress = startProgress(output, label)
  const onRetry = (reason: string) => {
    progress.end()
    output.write(`${escapedLine(`${label}: ${reason} Trying again`)}\n`)
  }
  try {
    return await work({ onProgress: progress.update, onRetry })
  } finally {
    progress.end()
  }
}

type Output = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">

const DRAW_INTERVAL_MS = 100
/** Work that takes less time shows no progress. */
const SHOW_AFTER_MS = 1000

/** Progress on a terminal only, and only once a second has passed since `startedMs`. */
export function lateProgress(
  output: Output,
  label: string,
  startedMs: number,
  amount: (count: number) => string,
  now: () => number = Date.now,
): Progress {
  if (!output.isTTY) return { update() {}, end() {} }
  return onTerminal(output, escapedLine(label), amount, now, startedMs + SHOW_AFTER_MS)
}

export function startProgress(output: Output, label: string, now: () => number = Date.now): Progress {
  return output.isTTY ? onTerminal(output, escapedLine(label), byteSize, now, 0) : inLines(output, escapedLine(label))
}

/** Draws nothing before `fromMs`. `amount` writes what is counted. */
function onTerminal(
  output: Output,
  label: string,
  amount: (count: number) => string,
  now: () => number,
  fromMs: number,
): Progress {
  let drawn: number | undefined
  let first: { at: number; done: number } | undefined
  return {
    update(done, total) {
      const at = now()
      if (at < fromMs) return
      first ??= { at, done }
      if (drawn !== undefined && at - drawn < DRAW_INTERVAL_MS && done !== total) return
      drawn = at
      const perSecond = ((done - first.done) / Math.max(1, at - first.at)) * 1000
      const left = total && perSecond > 0 ? `, ${timeOf((total - done) / perSecond)} left` : ""
      const text = `${label} ${doneOf(done, total, amount)}${left}`
      output.write(`\r\u001b[2K${text.slice(0, (output.columns || 80) - 1)}`)
    },
    end() {
      if (drawn !== undefined) output.write("\r\u001b[2K")
      drawn = undefined
    },
  }
}

function inLines(output: Output, label: string): Progress {
  let tenths = -1
  return {
    update(doneBytes, totalBytes) {
      if (!totalBytes || Math.floor((doneBytes / totalBytes) * 10) <= tenths) return
      tenths = Math.floor((doneBytes / totalBytes) * 10)
      output.write(`${label} ${doneOf(doneBytes, totalBytes, byteSize)}\n`)
    },
    end() {},
  }
}

/** The share is rounded down, so that 100% means complete. */
function doneOf(done: number, total: number | undefined, amount: (count: number) => string): string {
  return total ? `${percent(Math.floor((done / total) * 100) / 100)} of ${amount(total)}` : amount(done)
}

function timeOf(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
