// Reads the pixels of the canvases of a page.

import type { Page } from "../support/browser.ts"

/** Evaluated in the page before pixels are read. Reads a copy, since the browser warns about repeated reads of a canvas. */
const PIXELS = `window.pixelsOf = (canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true })
  copy.drawImage(canvas, 0, 0)
  return copy.getImageData(0, 0, canvas.width, canvas.height).data
}`

/** The share of pixels of each canvas that are not transparent. */
export function drawn(page: Page): Promise<number[]> {
  return page.evaluate<number[]>(`${PIXELS}
    Array.from(document.querySelectorAll("canvas"), (canvas) => {
      const data = pixelsOf(canvas)
      return data.filter((value, at) => at % 4 === 3 && value > 0).length / (data.length / 4)
    })`)
}

/** The number of pixels of the first canvas that have this colour of the style sheet. */
export function coloured(page: Page, name: string): Promise<number> {
  return page.evaluate<number>(`${PIXELS}
    const probe = document.body.appendChild(document.createElement("i"))
    probe.style.color = "var(--${name})"
    const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
    probe.remove()
    const data = pixelsOf(document.querySelector("canvas"))
    let count = 0
    for (let at = 0; at < data.length; at += 4) if (wanted.every((value, i) => data[at + i] === value)) count++
    count`)
}
