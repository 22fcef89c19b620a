import { heapStats } from "bun:jsc"
import { eventually } from "./world.ts"

/** Bytes of the JavaScript heap after a collection. */
export function heapBytes(): number {
  Bun.gc(true)
  Bun.gc(true)
  return heapStats().heapSize
}

/**
 * Resolves once the heap is below `bytes`. Soon, not at once: work after a call still holds what it works on, and the
 * collector keeps what only looks like a reference until the stack changes.
 */
export function heapBelow(bytes: number): Promise<true> {
  return eventually(`a heap of less than ${bytes} bytes`, () => (heapBytes() < bytes ? true : undefined))
}
