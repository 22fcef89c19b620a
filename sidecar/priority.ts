// The sidecar's scheduling priority: below whatever the user does on this machine.

import { readdirSync } from "node:fs"
import { setPriority } from "node:os"

const NICE = 10

/**
 * Gives way to other programs, for good: no process without rights can take that back. Only for an engine with one
 * thread or on a GPU. Several threads wait for each other by spinning, and when one of them is put aside for another
 * program the others burn their time for nothing: measured, niced spinners are slower still.
 */
export function giveWay(): void {
  for (const id of taskIds()) {
    try {
      setPriority(id, NICE)
    } catch {
      // a thread that has ended since; where priorities are not allowed at all, working at the normal one is right
    }
  }
}

/** On Linux a priority is a thread's own, and those that evaluate exist by now; elsewhere 0 means the whole process. */
function taskIds(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number)
  } catch {
    return [0]
  }
}
