// DOM elements. Text is inserted as text and never as markup, since much of it is foreign input.

type Child = Node | string | undefined

type Attributes = Record<string, string | number>

/** An element with attributes and children. A child that is undefined is left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children)
}

/** An element of a picture. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes,
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children)
}

function filled<T extends Element>(element: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`)
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
  /** what a click on the head sorts by: numbers from large to small, words in order */
  by?(row: Row): number | string
  cell(row: Row): Child
}

export function numberColumn<Row>(head: string, cell: (row: Row) => Child): Column<Row> {
  return { head, isNumber: true, cell }
}

/** A column of counts, which sort it. */
export function countColumn<Row>(head: string, count: (row: Row) => number): Column<Row> {
  return { ...numberColumn(head, (row: Row) => `${count(row)}`), by: count }
}

/** A table in a box that scrolls on its own if it is too wide. The caption stays outside, where it is never cut. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): HTMLElement {
  const align = ({ isNumber }: Column<Row>) => (isNumber ? { class: "number" } : {})
  const heads = columns.map((column) => {
    const head = column.by ? button(column.head, () => sortBy(column), { class: "link" }) : column.head
    return el("th", { scope: "col", ...align(column) }, head)
  })
  const rowOf = (row: Row) => {
    const cells = columns.map((column, at) => {
      const scope = at === 0 ? { scope: "row" } : {}
      return el(at === 0 ? "th" : "td", { ...scope, ...align(column) }, column.cell(row))
    })
    return el("tr", {}, ...cells)
  }
  const body = el("tbody", {}, ...rows.map(rowOf))
  let sorted: Column<Row> | undefined
  let sign = 1
  function sortBy(column: Column<Row>): void {
    const { by = () => 0 } = column
    sign = sorted === column ? -sign : 1
    sorted = column
    const inOrder = rows.toSorted((a, b) => {
      const [one, other] = [by(a), by(b)]
      if (typeof one === "number" && typeof other === "number") return sign * (other - one)
      return sign * `${one}`.localeCompare(`${other}`)
    })
    body.replaceChildren(...inOrder.map(rowOf))
    for (const cell of heads) cell.removeAttribute("aria-sort")
    const falls = typeof by(rows[0] as Row) === "number" ? sign > 0 : sign < 0
    heads[columns.indexOf(column)]?.setAttribute("aria-sort", falls ? "descending" : "ascending")
  }
  const made = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body)
  // a box that scrolls must be reachable by keyboard
  const box = el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, made)
  const whole = el("div", { class: "table" }, el("p", { class: "faint" }, caption), box)
  new ResizeObserver(() => whole.classList.toggle("scrolls", box.scrollWidth > box.clientWidth)).observe(box)
  return whole
}

/** Content that is created when the reader opens it. */
export function disclosure(summary: Node | string, make: () => HTMLElement): HTMLElement {
  const details = el("details", {}, el("summary", {}, summary))
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(make())
  })
  return details
}

export function section(id: string, heading: string, ...children: readonly Child[]): HTMLElement {
  return el("section", { "aria-labelledby": id }, el("h2", { id }, heading), ...children)
}
