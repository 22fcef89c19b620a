// DOM elements and colours. Text is inserted as text and never as markup, since much of it is foreign input.

type Child = Node | string | undefined

type Attributes = Record<string, string | number | boolean | undefined>

/** An element with attributes (`false` and undefined leave one out) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : `${value}`)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

export function button(words: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = el("button", { type: "button", ...attributes }, words)
  made.addEventListener("click", onClick)
  return made
}

export type Column<Row> = {
  head: string
  /** aligned to the right */
  isNumber?: boolean
  cell(row: Row): Child
}

/** A table in a box that scrolls on its own if it is too wide. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): HTMLElement {
  const align = ({ isNumber }: Column<Row>) => (isNumber ? { class: "number" } : {})
  const head = el("tr", {}, ...columns.map((column) => el("th", { scope: "col", ...align(column) }, column.head)))
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      ...columns.map((column, at) =>
        at === 0
          ? el("th", { scope: "row", ...align(column) }, column.cell(row))
          : el("td", align(column), column.cell(row)),
      ),
    ),
  )
  const made = el("table", {}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...body))
  // a box that scrolls must be reachable by keyboard
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, made)
}

/** Content that is created when the reader opens it. */
export function folded(summary: string, make: () => HTMLElement): HTMLElement {
  const details = el("details", {}, el("summary", {}, summary))
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(make())
  })
  return details
}

/** A heading and its content. */
export function section(id: string, heading: string, ...children: readonly Child[]): HTMLElement {
  return el("section", { "aria-labelledby": id }, el("h2", { id }, heading), ...children)
}

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

/** The current value of this colour of the style sheet; canvases cannot use its name. */
export function colour(name: Colour): string {
  const probe = document.createElement("i")
  probe.style.color = `var(--${name})`
  document.body.append(probe)
  // the property itself may be light-dark(…), which a canvas does not understand
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

/** Switches between light and dark. `onChange` is called for every change, including the system's. */
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
