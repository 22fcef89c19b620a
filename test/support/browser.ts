// A real browser for the tests of the report: the Chromium of a package on Linux x64, elsewhere the one named by
// HUDFOLD_CHROME or Google Chrome where it is installed.

import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

export type { Browser, Page }

/** Rejects when there is none. */
export async function launchBrowser(): Promise<Browser> {
  const named = process.env.HUDFOLD_CHROME
  if (named) return chromium.launch({ executablePath: named })
  if (process.platform !== "linux" || process.arch !== "x64") return chromium.launch({ channel: "chrome" })
  // not with the package's own arguments: in a single process the browser ends with its first context
  const { default: packed } = await import("@sparticuz/chromium")
  return chromium.launch({ executablePath: await packed.executablePath() })
}

export type Opened = {
  page: Page
  /** what the page asked for, the file itself left out */
  requests: string[]
  /** what it complained of: errors, warnings and what was refused */
  complaints: string[]
}

const DESK = { viewport: { width: 1200, height: 900 }, timezoneId: "UTC" }

/** Opens a file as a double click would. */
export async function openFile(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ ...DESK, ...options })
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  await context.route("**/*", (route) => {
    if (route.request().url() === url) return route.continue()
    requests.push(route.request().url())
    return route.abort()
  })
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  await page.goto(url)
  return { page, requests, complaints }
}
