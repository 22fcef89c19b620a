// What the user has switched off for one session from the panel. The panel writes the file, the plugin looks at it before
// every request: the two may be in different processes, and a switch has to outlive both.

import * as z from "zod/mini"

export const switchesSchema = z.object({
  /** whether the HUD is sent */
  hud: z._default(z.enum(["on", "paused"]), "on"),
  /** `paused`: what is folded stays so, and nothing more is unless the context would overflow */
  folding: z._default(z.enum(["on", "paused"]), "on"),
})
export type Switches = z.output<typeof switchesSchema>

export const ALL_ON: Switches = { hud: "on", folding: "on" }

/** What a file's text says; a file that says nothing readable switches nothing off. */
export function parseSwitches(text: string): Switches {
  try {
    const parsed = switchesSchema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : ALL_ON
  } catch {
    return ALL_ON
  }
}
