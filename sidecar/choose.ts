// Which device the model runs on: the GPU where there is one that works and is worth it, else the processor.

import type { Capabilities, GpuChoice } from "../src/engine/wire/messages.ts"
import { messageOf } from "./errors.ts"
import type { Speed } from "./pace.ts"

export type Opened = {
  /** where it runs; `off` is the processor */
  gpu: Capabilities["gpu"]
  speed: Speed
  close(): Promise<void>
}

/** `fallback` says why it is not the GPU asked for, or the one there is. */
export type Chosen<T> = { opened: T; fallback?: string }

/** A GPU that is through with a middling request sooner than this is not compared with the processor. */
const QUICK_SECONDS = 3

/**
 * Opens the model on the device asked for. One that fails leads to the processor. With `auto`, one that is slower than
 * the processor does too: a weak GPU can be a hundred times slower. One asked for by name is kept, however slow.
 *
 * `open` gives back what runs on the processor when it is asked for `auto` and there is no GPU. Rejects as opening on
 * the processor does, or with the signal's reason; nothing is left open then.
 */
export async function chooseDevice<T extends Opened>(
  asked: GpuChoice,
  open: (gpu: GpuChoice) => Promise<T>,
  signal: AbortSignal,
): Promise<Chosen<T>> {
  if (asked === "off") return { opened: await open("off") }
  const first = await open(asked).catch((error: unknown) => {
    signal.throwIfAborted()
    return `${asked === "auto" ? "the GPU" : asked} is not used: ${messageOf(error)}`
  })
  if (typeof first === "string") return { opened: await open("off"), fallback: first }
  if (asked !== "auto" || first.gpu === "off" || requestSeconds(first.speed) < QUICK_SECONDS) return { opened: first }

  // not both at once: there may be memory for one only
  const { gpu, speed } = first
  await first.close()
  const second = await open("off").catch(() => {
    signal.throwIfAborted()
    // a model may fit the GPU's memory and not the machine's
    return undefined
  })
  if (second === undefined) return { opened: await open(gpu) }
  if (requestSeconds(second.speed) > requestSeconds(speed)) {
    await second.close()
    return { opened: await open(gpu) }
  }
  return { opened: second, fallback: `${gpu} is not used: it ${words(speed)}, the processor ${words(second.speed)}` }
}

/** For a middling request: 1000 tokens of document, 64 of answer. */
const requestSeconds = ({ prefill, decode }: Speed) => 1000 / prefill + 64 / decode

const words = ({ prefill, decode }: Speed) => `reads ${round(prefill)} and writes ${round(decode)} tokens a second`

const round = (value: number) => Number(value.toPrecision(2))
