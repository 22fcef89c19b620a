// What is seen of a session, as a signal of the screen.

import { type Accessor, createEffect, createSignal, onCleanup } from "solid-js"
import { ALL_ON } from "../status/switches.ts"
import type { Seen, Watch } from "./watch.ts"

const NOTHING: Seen = { status: undefined, switches: ALL_ON }

/** Follows another session when the id changes. */
export function followSession(watch: Watch, sessionID: Accessor<string>): Accessor<Seen> {
  const [seen, setSeen] = createSignal(NOTHING)
  createEffect(() => {
    setSeen(NOTHING)
    onCleanup(watch.follow(sessionID(), setSeen))
  })
  return seen
}
