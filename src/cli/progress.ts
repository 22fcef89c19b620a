// How far a download is: one line that is drawn anew on a terminal, a line for every tenth elsewhere. Not clack's, whose
// spinner takes the keyboard and ends the process with exit code 0 at Ctrl-C, past everything that has to be put in order.
import type { DownloadOptions } from "../setup/download.ts"
import { megabytes } from "../setup/folder.ts"
import { oneLine } from "./terminal.ts"

export type Progress = {
  update(doneBytes: number, totalBytes: number | undefined): void
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

export function startProgress(output: Output, label: string, now: () => number = Date.now): Progress {
  return output.isTTY ? onTerminal(output, oneLine(label), now) : inLines(output, oneLine(label))
}

function onTerminal(output: Output, label: string, now: () => number): Progress {
  let drawn = Number.NEGATIVE_INFINITY
  let first: { at: number; bytes: number } | undefined
  const draw = (text: string) => output.write(`\r\u001b[2K${text.slice(0, (output.columns || 80) - 1)}`)
  return {
    update(doneBytes, totalBytes) {
      const at = now()
      first ??= { at, bytes: doneBytes }
      if (at - drawn < DRAW_EVERY_MS && doneBytes !== totalBytes) return
      drawn = at
      const perSecond = ((doneBytes - first.bytes) / Math.max(1, at - first.at)) * 1000
      const speed = perSecond > 0 ? `, ${(perSecond / 1e6).toFixed(1)} MB/s` : ""
      if (totalBytes === undefined) return void draw(`${label} ${megabytes(doneBytes)}${speed}`)
      const part = Math.min(1, doneBytes / totalBytes)
      const bar = "#".repeat(Math.round(part * BAR)).padEnd(BAR, "-")
      const left = perSecond > 0 ? `, ${timeOf((totalBytes - doneBytes) / perSecond)} left` : ""
      draw(`${label} [${bar}] ${percent(part)} of ${megabytes(totalBytes)}${speed}${left}`)
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
