// Holds work up while it is shut: the place between two chunks where a pause and a cancellation are honoured.

export class Gate {
  private opened = Promise.resolve()
  private open: (() => void) | undefined

  get isShut(): boolean {
    return this.open !== undefined
  }

  set(shut: boolean): void {
    if (shut === this.isShut) return
    if (this.open) {
      this.open()
      this.open = undefined
    } else {
      this.opened = new Promise((resolve) => {
        this.open = resolve
      })
    }
  }

  /** Resolves when open; rejects with the signal's reason as soon as that is aborted, open or shut. */
  async pass(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    while (this.open) await abortable(this.opened, signal)
  }
}

function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener("abort", onAbort, { once: true })
    void promise.then(() => {
      signal.removeEventListener("abort", onAbort)
      resolve()
    })
  })
}
