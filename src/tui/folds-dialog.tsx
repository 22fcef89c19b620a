// The folds of a session in a list, newest first; choosing one shows its original.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import type { FoldStatus, Status } from "../status/status.ts"
import { amount } from "../text/text.ts"
import type { Guard } from "./guard.ts"
import { originalOf } from "./recall.ts"
import { dialogWidth, showText } from "./text-dialog.tsx"
import { visible } from "./visible.ts"
import { fit, widthOf } from "./width.ts"

/** Columns of a row that are neither title, description nor footer. */
const MARGINS = 12

export function showFolds(api: TuiPluginApi, guard: Guard, { sessionID, folding }: Status): void {
  const room = dialogWidth(api.renderer.width) - MARGINS
  const options = folding.newest.map((fold) => {
    const title = `${fold.id} ${fold.what}`
    const footer = `${amount(fold.tokens - fold.textTokens)} less`
    return { title, description: fit(fold.because, room - widthOf(title) - widthOf(footer)), footer, value: fold }
  })
  const more = folding.outputs - options.length
  api.ui.dialog.replace(() => (
    <api.ui.DialogSelect<FoldStatus>
      title={more > 0 ? `Folds, the newest ${options.length} of ${folding.outputs}` : "Folds"}
      placeholder="Search; enter shows the original"
      options={options}
      onSelect={({ value }) => guard.run(`recall of ${value.id}`, () => recall(api, sessionID, value))}
    />
  ))
  api.ui.dialog.setSize("large")
}

async function recall(api: TuiPluginApi, sessionID: string, fold: FoldStatus): Promise<void> {
  const original = await originalOf(api.client, sessionID, fold)
  const title = `${fold.id} ${fold.what}`
  if (original === undefined) {
    showText(api, { title, note: "The original is gone: its message was taken back or removed." })
    return
  }
  const note = `${fold.side} folded from call ${fold.call} on: ${fold.because}`
  if (original === "") showText(api, { title, note: `${note}; it is empty` })
  else showText(api, { title, note, text: visible(original) })
}
