// How far a download is, or a long reckoning: one line that is drawn anew on a terminal, for a download a line for every
// tenth elsewhere. Not clack's, whose spinner takes the keyboard and ends the process with exit code 0 at Ctrl-C, past
// everything that has to be put in order.
import type { DownloadOptions } from "../setup/download.ts"
import { megabytes } from "../setup/folder.ts"
import { oneLine } from "./terminal.ts"

export type Progress = {
  update(done: number, total: number | undefined): void
  /** Ends the line. */
  end(): void
}

/** Shows how far `work` is while it goes on, and says when a connection is tried again. */
export async function withProgress<T>(
  output: Output,
  label: string,
  work: (told: Required<Pick<DownloadOptions, "onProgress" | "onRetry">>) => Promise<T>,
): Promise<T> {
  const progress = startProgress(output, label)
  const onRetry = (reason: string) => {
    progress.end()
    output.write(`${oneLine(`${label}: ${reason} Trying again`)}\n`)
  }
  try {
    return await work({ onProgress: progress.update, onRetry })
  } finally {
    progress.end()
  }
}

type Output = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">

const DRAW_EVERY_MS = 100
const BAR = 24
/** Without a known total a line is written for so much. */
const STEP_BYTES = 50e6
/** Work that is done sooner needs no bar. */
const LATE_MS = 1000

/** How much is said to be done, and how fast. */
type Unit = { amount(count: number): string; speed(perSecond: number): string }

const BYTES: Unit = { amount: megabytes, speed: (perSecond) => `, ${(perSecond / 1e6).toFixed(1)} MB/s` }
const CALLS: Unit = { amount: (count) => `${count} calls`, speed: () => "" }

/** How many calls are done, on a terminal only and once a second has passed since `startedMs`. */
export function lateProgress(output: Output, label: string, startedMs: number, now: () => number = Date.now): Progress {
  const progress = onTerminal(output, oneLine(label), now, CALLS)
  let isDrawn = false
  return {
    update(done, total) {
      if (!output.isTTY || now() - startedMs < LATE_MS) return
      isDrawn = true
      progress.update(done, total)
    },
    end() {
      if (isDrawn) progress.end()
      isDrawn = false
    },
  }
}

export function startProgress(output: Output, label: string, now: () => number = Date.now): Progress {
  return output.isTTY ? onTerminal(output, oneLine(label), now) : inLines(output, oneLine(label))
}

function onTerminal(output: Output, label: string, now: () => number, unit: Unit = BYTES): Progress {
  let drawn = Number.NEGATIVE_INFINITY
  let first: { at: number; done: number } | undefined
  const draw = (text: string) => output.write(`\r\u001b[2K${text.slice(0, (output.columns || 80) - 1)}`)
  return {
    update(done, total) {
      const at = now()
      first ??= { at, done }
      if (at - drawn < DRAW_EVERY_MS && done !== total) return
      drawn = at
      const perSecond = ((done - first.done) / Math.max(1, at - first.at)) * 1000
      const speed = perSecond > 0 ? unit.speed(perSecond) : ""
      if (total === undefined) return void draw(`${label} ${unit.amount(done)}${speed}`)
      const part = Math.min(1, done / total)
      const bar = "#".repeat(Math.round(part * BAR)).padEnd(BAR, "-")
      const left = perSecond > 0 ? `, ${timeOf((total - done) / perSecond)} left` : ""
      draw(`${label} [${bar}] ${percent(part)} of ${unit.amount(total)}${speed}${left}`)
    },
    end: () => void output.write("\r\u001b[2K"),
  }
}

function inLines(output: Output, label: string): Progress {
  let said = -1
  return {
    update(doneBytes, totalBytes) {
      const step = totalBytes ? Math.floor((doneBytes / totalBytes) * 10) : Math.floor(doneBytes / STEP_BYTES)
      if (step <= said) return
      said = step
      const far = totalBytes ? `${percent(doneBytes / totalBytes)} of ${megabytes(totalBytes)}` : megabytes(doneBytes)
      output.write(`${label} ${far}\n`)
    },
    end() {},
  }
}

function percent(part: number): string {
  return `${Math.floor(part * 100)} %`
}

function timeOf(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
