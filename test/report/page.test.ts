// The report's page in a real browser, opened from a file as a reader would.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { ReportData } from "../../src/report/page.ts"
import { pageOf } from "../../src/report/page.ts"
import { type Browser, launchBrowser, type Opened, openFile, type Page } from "../support/browser.ts"
import { madeUpSession } from "../support/made-up.ts"
import { SessionBuilder } from "../support/session.ts"
import { buildPageAssets, reportOf } from "./support.ts"

const MOST_BYTES = 600_000
const folder = mkdtempSync(join(tmpdir(), "hud-report-"))
let browser: Browser
const files = new Map<string, { url: string; report: ReportData; bytes: number }>()

const EVIL = `</script><script>window.owned = 1</script><!-- <img src=x onerror="window.owned = 2">`

/** A report with foreign text in every field, as if nothing had been sanitized before. */
function hostile(): ReportData {
  const report = reportOf([
    // long enough for folds
    { messages: madeUpSession({ calls: 200 }).messages },
    { id: "ses_2", messages: madeUpSession({ calls: 20 }).messages },
  ])
  for (const session of report.sessions) {
    Object.assign(session, {
      id: EVIL,
      title: EVIL,
      models: [EVIL],
    })
    for (const call of session.calls) {
      call.used = call.used.map(() => ({ name: EVIL }))
      call.hud = { text: EVIL, tokens: 1 }
    }
    for (const fold of session.folds)
      Object.assign(fold, { id: EVIL, what: EVIL, because: EVIL, cutBecause: EVIL, text: EVIL })
    for (const cost of session.costs) if (cost.tool !== "") cost.tool = EVIL
  }
  for (const { replay } of report.sessions) replay.pricings = [EVIL]
  return { ...report, madeBy: EVIL, price: EVIL }
}

beforeAll(async () => {
  const client = await buildPageAssets()
  const write = (name: string, report: ReportData) => {
    const path = join(folder, `${name}.html`)
    const html = pageOf(report, client)
    writeFileSync(path, html)
    files.set(name, { url: pathToFileURL(path).href, report, bytes: Buffer.byteLength(html) })
  }
  const long = { title: "Prices at the checkout", messages: madeUpSession({ calls: 500, compactsAt: 80_000 }).messages }
  write("long", reportOf([long]))
  const small = { id: "ses_2", title: "A small one", messages: madeUpSession({ calls: 20 }).messages }
  const empty = { id: "ses_3", title: "Nothing yet", messages: new SessionBuilder().user("hello").messages }
  write("several", reportOf([long, small, empty]))
  const one = reportOf([{ messages: madeUpSession({ calls: 1 }).messages }])
  write("one", one)
  const repeated = one.sessions.map((session) => ({ ...session, calls: Array(5000).fill(session.calls[0]) }))
  write("repeated", { ...one, sessions: repeated })
  write("hostile", hostile())
  browser = await launchBrowser()
}, 60_000)

afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens a page and checks what must hold for every page. */
async function opened(
  name: string,
  options: Parameters<typeof openFile>[2],
  look: (page: Page, of: Opened & { report: ReportData }) => Promise<void>,
): Promise<void> {
  const file = files.get(name)
  if (!file) throw new Error(`no file ${name}`)
  const open = await openFile(browser, file.url, options)
  try {
    await look(open.page, { ...open, report: file.report })
    expect({ requests: open.requests, complaints: open.complaints }).toEqual({ requests: [], complaints: [] })
  } finally {
    await open.page.context().close()
  }
}

const hudShown = (page: Page) => page.locator("#hud").textContent()
const owned = (page: Page) => page.evaluate("window.owned")
const place = (page: Page) => page.locator("#place").textContent()

test("a session of 500 calls takes less than 600 kB", () => {
  expect(files.get("long")?.bytes).toBeLessThan(MOST_BYTES)
})

describe("a session", () => {
  test("shows every line, with folds and compactions", () =>
    opened("long", {}, async (page, { report }) => {
      expect(await page.locator("h2").allInnerTexts()).toEqual([
        "Context of each call, in tokens",
        "What was sent with a call",
        "What each tool and kind of text costs",
        "Folds",
        "Where the figures come from",
      ])
      const [session] = report.sessions
      for (const of of ["without", "with", "reported"]) {
        const points = await page.locator(`.chart polyline.${of}`).getAttribute("points")
        expect(points?.split(" ")).toHaveLength(500)
        expect(points).not.toContain("NaN")
      }
      const compactions = session?.calls.filter(({ compaction }) => compaction).length ?? 0
      expect(compactions).toBeGreaterThan(0)
      expect(await page.locator(".chart .compaction").count()).toBe(compactions)
      expect(await page.locator(".chart .fold").count()).toBeGreaterThan(0)
      // each line in a colour of its own
      const strokes = await page
        .locator(".chart polyline")
        .evaluateAll((lines) => lines.map((line) => getComputedStyle(line).stroke))
      expect(new Set(strokes).size).toBe(3)
    }))

  test("shows the savings at the top", () =>
    opened("long", {}, async (page) => {
      expect(await page.locator(".headline").textContent()).toMatch(
        /^1 session cost \$[\d.]+\. With hudfold it would have cost about \$[\d.]+ \(-\d+%\)\.$/,
      )
      expect(await page.locator(".tiles dt").allInnerTexts()).toEqual(
        expect.arrayContaining(["Conversation alone", "Cached"]),
      )
    }))

  test("the slider selects any call by keyboard, and the details follow", () =>
    opened("long", {}, async (page, { report }) => {
      const [session] = report.sessions
      expect(await place(page)).toBe("call 500 of 500")
      expect(await hudShown(page)).toBe(session?.calls[499]?.hud?.text ?? "")
      await page.locator("#call").focus()
      await page.keyboard.press("ArrowLeft")
      expect(await place(page)).toBe("call 499 of 500")
      expect(await hudShown(page)).toBe(session?.calls[498]?.hud?.text ?? "")
      await page.keyboard.press("PageDown")
      expect(await place(page)).toBe("call 449 of 500")
      await page.keyboard.press("Home")
      expect(await place(page)).toBe("call 1 of 500")
      expect(await hudShown(page)).toBe("No new HUD is sent with this call.")
      expect(await page.locator("#call").getAttribute("aria-valuetext")).toMatch(
        /^call 1 of 500, .+ tokens, nothing folded$/,
      )
      const [fold] = report.sessions[0]?.folds ?? []
      await page.getByRole("button", { name: "Next fold" }).click()
      expect(await place(page)).toBe(`call ${fold?.call} of 500`)
      expect(await page.locator("#folded").textContent()).toContain(fold?.what ?? "")
      expect(await page.locator("#folded").textContent()).toContain(fold?.because ?? "")
    }))

  test("a click on the chart selects the call at that place", () =>
    opened("long", {}, async (page) => {
      // right of the labels
      await page.locator(".chart svg").click({ position: { x: 49, y: 50 } })
      expect(await place(page)).toBe("call 1 of 500")
    }))

  test("a chart of a single call shows its lines", () =>
    opened("one", {}, async (page) => {
      expect(await page.getByRole("img").getAttribute("aria-label")).toBe("Context over 1 call")
      await page.locator(".chart polyline").first().waitFor({ state: "attached" })
      const lengths = await page
        .locator(".chart polyline")
        .evaluateAll((lines) => lines.map((line) => (line as SVGPolylineElement).getTotalLength()))
      expect(lengths.length).toBeGreaterThan(1)
      for (const length of lengths) expect(length).toBeGreaterThan(500)
    }))

  test("the number of the last call stands inside the chart", () =>
    opened("repeated", {}, async (page) => {
      const label = page.locator(".chart text").getByText("5000", { exact: true })
      const { right } = await label.evaluate((text) => text.getBoundingClientRect())
      expect(right).toBeLessThan(await page.locator(".chart svg").evaluate((one) => one.getBoundingClientRect().right))
    }))

  test("selecting a call moves its line and draws nothing again", () =>
    opened("long", {}, async (page) => {
      const lines = await page.locator(".chart polyline").elementHandles()
      const left = () => page.locator(".chart .chosen").evaluate((line) => (line as SVGPathElement).getBBox().x)
      const last = await left()
      await page.locator("#call").press("Home")
      expect(await left()).toBeLessThan(last - 500)
      for (const line of lines) expect(await line.evaluate((one) => one.isConnected)).toBe(true)
    }))

  test("the legend shows the figures of the selected call", () =>
    opened("long", {}, async (page, { report }) => {
      const calls = report.sessions[0]?.calls ?? []
      const shown = () => page.locator(".chart li span:last-child").first().textContent()
      expect(await shown()).toBe(`${Math.round((calls[499]?.without.tokens ?? 0) / 1000)}k`)
      await page.locator("#call").press("Home")
      expect(await shown()).toBe(`${calls[0]?.without.tokens}`)
    }))

  test("the figures of the chart are available as a table", () =>
    opened("long", {}, async (page, { report }) => {
      const tables = page.getByText("These figures as a table")
      await tables.first().click()
      await page.getByText(/, and why each was folded/).click()
      const rowsIn = async (box: string) => {
        await page.locator(`${box} .wide`).waitFor()
        return page.locator(`${box} .wide tbody tr`).count()
      }
      expect(await rowsIn("#context ~ figure")).toBe(500)
      const folds = report.sessions[0]?.folds ?? []
      expect(await rowsIn("#folds ~ details")).toBe(folds.length)
      // each opens to what is sent instead
      await page.locator("#folds ~ details td summary").first().click()
      const sent = await page.locator("#folds ~ details td pre").first().textContent()
      expect(sent).toBe(folds.find(({ text }) => text !== "")?.text ?? "")
      await page.locator("#folds ~ details tbody button").first().click()
      expect(await place(page)).toBe(`call ${report.sessions[0]?.folds[0]?.call} of 500`)
    }))
})

describe("several sessions", () => {
  test("are shown together first, by day and by session", () =>
    opened("several", {}, async (page, { report }) => {
      expect(await page.locator("#session option").allInnerTexts()).toEqual([
        "All 3 sessions",
        "Prices at the checkout",
        "A small one",
        "Nothing yet",
      ])
      expect(await page.locator(".headline").textContent()).toStartWith("2 sessions cost $")
      expect(await page.locator(".more").allInnerTexts()).toEqual([
        "1 session: no model calls, so there is nothing to compare.",
      ])
      const calls = report.sessions.reduce((sum, { replay }) => sum + replay.calls, 0)
      expect(await page.locator(".tiles").textContent()).toContain(`in ${calls} calls`)
      expect(await page.locator("#sessions ~ .table tbody tr").count()).toBe(3)
    }))

  test("are sorted by a click on a heading, and added up by project, model, day and month", () =>
    opened("several", {}, async (page) => {
      const titles = () => page.locator("#sessions ~ .table tbody th").allInnerTexts()
      const heading = (name: string) =>
        page.locator("#sessions ~ .table").getByRole("button", { name: new RegExp(`^${name}`) })
      await heading("saved").click()
      expect(await titles()).toEqual(["Prices at the checkout", "A small one", "Nothing yet"])
      await heading("begun").click()
      await heading("begun").click()
      expect((await titles()).at(-1)).not.toBe("Nothing yet")
      const rows = async (by: string) => {
        await page.selectOption("#group", by)
        return page.locator(".groups tbody th").allInnerTexts()
      }
      expect(await rows("project")).toEqual(["/home/dev/shop"])
      expect(await rows("month")).toEqual(["2026-11", "unknown"])
      expect(await page.locator(".groups tbody tr").first().textContent()).toMatch(/\$[\d.]+-\d+%\$[\d.]+\$[\d.]+2$/)
    }))

  test("one of them is chosen from the list or by its name", () =>
    opened("several", {}, async (page) => {
      await page.getByRole("button", { name: "A small one" }).click()
      expect(await place(page)).toBe("call 20 of 20")
      await page.selectOption("#session", { label: "Nothing yet" })
      expect(await page.locator(".headline").textContent()).toBe(
        "1 session: no model calls, so there is nothing to compare.",
      )
      await page.selectOption("#session", { label: "All 3 sessions" })
      expect(await page.locator("#sessions").count()).toBe(1)
    }))
})

describe("foreign text", () => {
  test("is displayed and has no effect", () =>
    opened("hostile", {}, async (page) => {
      await page.selectOption("#session", { index: 1 })
      for (const key of ["Home", "End"]) {
        await page.locator("#call").press(key)
        expect(await hudShown(page)).toBe(EVIL)
      }
      await page.getByText(/, and why each was folded/).click()
      await page.locator("#folds ~ details .wide").waitFor()
      await page.locator("#folds ~ details td summary").first().click()
      expect(await page.locator("#folds ~ details td pre").first().textContent()).toBe(EVIL)
      for (const place of [".title", "#tools code", "#folds ~ details code", "#costs ~ .table th[scope=row]"])
        expect(await page.locator(place).first().textContent()).toBe(EVIL)
      expect(await page.title()).toBe("2 sessions · hudfold report")
      expect(await owned(page)).toBeUndefined()
      expect(await page.locator("img").count()).toBe(0)
      expect(await page.locator("script").count()).toBe(2)
    }))

  test("could not run a script or load anything even if it became markup", () =>
    opened("hostile", {}, async (page, { complaints, requests }) => {
      await page.evaluate(() => {
        document.body.insertAdjacentHTML(
          "beforeend",
          `<img src="https://example.com/x.png" onerror="window.owned = 3">`,
        )
        const script = document.createElement("script")
        script.textContent = "window.owned = 4"
        document.body.append(script)
      })
      expect(await owned(page)).toBeUndefined()
      expect(complaints.join("\n")).toContain("Content Security Policy")
      expect(requests).toEqual([])
      complaints.length = 0
    }))

  test("has no effect without scripts either, where the page describes what it would show", () =>
    opened("hostile", { javaScriptEnabled: false }, async (page) => {
      const [shown] = await page.locator("body").allInnerTexts()
      expect(shown).toContain("2 sessions cost $")
      expect(shown).toContain("With scripts allowed, this page shows")
      expect(await page.locator("img").count()).toBe(0)
    }))
})

describe("for every reader", () => {
  const background = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)

  test("it follows the system's colour scheme, and so does the chart", () =>
    opened("long", { colorScheme: "dark" }, async (page) => {
      const line = () => page.locator("polyline.with").evaluate((one) => getComputedStyle(one).stroke)
      expect([await background(page), await line()]).toEqual(["rgb(20, 23, 28)", "rgb(88, 166, 255)"])
      await page.emulateMedia({ colorScheme: "light" })
      expect([await background(page), await line()]).toEqual(["rgb(255, 255, 255)", "rgb(11, 107, 203)"])
    }))

  test.each(["long", "several"])("%s sessions fit 400 pixels without scrolling sideways", (name) =>
    opened(name, { viewport: { width: 400, height: 800 } }, async (page) => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
    }),
  )

  test("a table that is too wide for a phone scrolls, says so, and keeps its names in view", () =>
    opened("several", { viewport: { width: 400, height: 800 } }, async (page) => {
      const table = page.locator("#sessions ~ .table")
      const hint = () => table.locator("p").evaluate((one) => getComputedStyle(one, "::after").content)
      expect(await hint()).toContain("scroll sideways")
      const name = table.locator("tbody th").first()
      const [before] = [await name.boundingBox()]
      await table.locator(".wide").evaluate((box) => box.scrollTo(200, 0))
      expect((await name.boundingBox())?.x).toBe(before?.x ?? -1)
      await page.setViewportSize({ width: 1300, height: 800 })
      await page.waitForFunction(() => !document.querySelector("#sessions ~ .scrolls"))
      expect(await hint()).toBe("none")
    }))

  test("on paper it leaves out the controls, and is white and as wide as the paper whatever the screen", () =>
    opened("long", { colorScheme: "dark" }, async (page) => {
      await page.emulateMedia({ media: "print" })
      await page.setViewportSize({ width: 718, height: 1000 })
      expect(await page.locator("button:visible, select:visible, input:visible, summary:visible").count()).toBe(0)
      expect(await page.locator("#place").textContent()).toBe("call 500 of 500")
      expect(await background(page)).toBe("rgb(255, 255, 255)")
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(718)
      await page.emulateMedia({ media: "screen" })
      expect(await background(page)).toBe("rgb(20, 23, 28)")
    }))

  test("the chart follows the window's width", () =>
    opened("long", {}, async (page) => {
      // where its lines end; the picture itself is made smaller by the style sheet
      const end = () =>
        page.evaluate(() => (document.querySelector("polyline.with") as SVGGraphicsElement).getBBox().width)
      await page.locator("polyline.with").waitFor({ state: "attached" })
      const before = await end()
      await page.setViewportSize({ width: 600, height: 800 })
      await page.waitForFunction(
        (before) => (document.querySelector("polyline.with") as SVGGraphicsElement).getBBox().width < before,
        before,
      )
      expect(await end()).toBeLessThan(600)
    }))

  test("every control has a name and can be reached by keyboard", () =>
    opened("several", {}, async (page) => {
      await page.selectOption("#session", { index: 1 })
      await page.locator("body").press("Tab")
      const reached: string[] = []
      for (let i = 0; i < 20; i++) {
        reached.push(
          await page.evaluate(() => document.activeElement?.id || (document.activeElement?.textContent ?? "")),
        )
        await page.keyboard.press("Tab")
      }
      expect(reached).toEqual(expect.arrayContaining(["call", "Previous", "These figures as a table"]))
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll("button, select, input, [role=img], [role=region]")]
          .filter((one) => {
            const labels = (one as HTMLInputElement).labels?.length ?? 0
            return !one.getAttribute("aria-label") && !one.textContent?.trim() && labels === 0
          })
          .map((one) => one.outerHTML.slice(0, 80)),
      )
      expect(unnamed).toEqual([])
    }))
})
