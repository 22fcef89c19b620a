// experimental.chat.system.transform: one constant paragraph at the end of the system prompt's last element. A second
// element would become a second system message, which strict chat templates refuse.

import { isHelperPrompt, paragraph } from "../../hud/paragraph.ts"
import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"

export function onSystem(
  context: HookContext,
  input: { sessionID?: string; model?: unknown },
  output: { system: unknown },
): Commit | undefined {
  const system = output?.system
  const first: unknown = Array.isArray(system) ? system[0] : undefined
  // without a session it is OpenCode writing an agent's description
  if (
    typeof first !== "string" ||
    input?.sessionID === undefined ||
    isHelperPrompt(first, context.agents.helperPrompts)
  ) {
    context.models.note(input?.model)
    return
  }
  context.models.note(input.model, context.sessions.get(input.sessionID))
  const { hud, fold } = context.options
  const said = paragraph({ hud: hud.enabled, folds: fold.enabled })
  if (said === undefined || !Array.isArray(system)) return
  const last = system.length - 1
  if (typeof system[last] !== "string" || system[last].endsWith(said)) return
  return () => {
    system[last] = `${system[last]}\n\n${said}`
  }
}
