// Light or dark: as the reader's system has it, until the reader chooses. Canvases are told the colours by name.

import { button } from "./dom.ts"

export type Colour =
  | "text"
  | "faint"
  | "line"
  | "without"
  | "without-light"
  | "with"
  | "with-light"
  | "reported"
  | "mark"

/** The colour that the style sheet has under this name at the moment. */
export function colour(name: Colour): string {
  const probe = document.createElement("i")
  probe.style.color = `var(--${name})`
  document.body.append(probe)
  // the property itself may still say light-dark(…), which a canvas does not understand
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

/** A button that turns the page over; `onChange` hears of every change, the system's too. */
export function themeButton(onChange: () => void): HTMLButtonElement {
  const system = matchMedia("(prefers-color-scheme: dark)")
  const root = document.documentElement
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark"
  const name = () => {
    made.textContent = isDark() ? "Light colours" : "Dark colours"
  }
  const made = button("", () => {
    root.dataset.theme = isDark() ? "light" : "dark"
    name()
    onChange()
  })
  system.addEventListener("change", () => {
    name()
    onChange()
  })
  name()
  return made
}
