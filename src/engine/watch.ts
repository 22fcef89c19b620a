// Looks every so often whether the sidecar still gives signs of life while it owes an answer. Counts its own ticks and
// not the clock: a host that was itself suspended (ctrl-z, a closed laptop) must not find its child guilty.

export type Watch = {
  /** a sign of life came */
  heard(): void
  /** how long the silence may last from now on */
  allow(silenceMs: number): void
  /** Told to pause, the sidecar owes nothing, and no time passes. */
  pause(paused: boolean): void
  /** Calls back after so much time, pauses not counted; the answer calls it off. */
  after(ms: number, late: () => void): () => void
  close(): void
}

export function startWatch(tickMs: number, owes: () => boolean, onSilent: (ms: number) => void): Watch {
  const deadlines = new Set<{ leftMs: number; late: () => void }>()
  let allowedMs = Number.POSITIVE_INFINITY
  let silentMs = 0
  let paused = false
  const timer = setInterval(() => {
    if (paused) return
    silentMs = owes() ? silentMs + tickMs : 0
    if (silentMs > allowedMs) return onSilent(silentMs)
    for (const deadline of [...deadlines]) {
      deadline.leftMs -= tickMs
      if (deadline.leftMs < 0 && deadlines.delete(deadline)) deadline.late()
    }
  }, tickMs)
  timer.unref()
  return {
    heard: () => {
      silentMs = 0
    },
    allow(silenceMs) {
      allowedMs = silenceMs
      silentMs = 0
    },
    pause(now) {
      paused = now
      silentMs = 0
    },
    after(ms, late) {
      const deadline = { leftMs: ms, late }
      deadlines.add(deadline)
      return () => void deadlines.delete(deadline)
    },
    close: () => clearInterval(timer),
  }
}
