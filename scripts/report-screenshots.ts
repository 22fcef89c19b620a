// Takes the picture of a report on a synthetic session, docs/images/report.png.

import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { pageOf } from "../src/report/page.ts"
import { buildPageAssets, reportOf } from "../test/report/support.ts"
import { launchBrowser, openFile } from "../test/support/browser.ts"
import { madeUpSession } from "../test/support/made-up.ts"

const MAX_BYTES = 200_000
/** Which fold's call is selected, as a share of all folds. */
const SELECTED_FOLD = 0.7

const images = fileURLToPath(new URL("../docs/images/", import.meta.url))
const folder = await mkdtemp(join(tmpdir(), "hud-pictures-"))
const browser = await launchBrowser()
try {
  const { messages } = madeUpSession({ calls: 180, compactsAt: 120_000 })
  const report = reportOf([{ title: "Make the login test pass", messages }])
  const path = join(folder, "report.html")
  await writeFile(path, pageOf(report, await buildPageAssets()))
  await mkdir(images, { recursive: true })
  const folds = report.sessions[0]?.folds ?? []
  const { page, complaints } = await openFile(browser, pathToFileURL(path).href, {
    ...{ colorScheme: "light", locale: "en-GB", viewport: { width: 1000, height: 1300 } },
  })
  await page.locator("#call").fill(`${folds[Math.floor(folds.length * SELECTED_FOLD)]?.call ?? 1}`)
  await page.locator("#call").blur()
  if (complaints.length > 0) throw new Error(`the page complains: ${complaints.join("; ")}`)
  const image = join(images, "report.png")
  await page.screenshot({ path: image })
  const { size } = await stat(image)
  if (size > MAX_BYTES) throw new Error(`${image} has ${size} bytes, expected at most ${MAX_BYTES}`)
  process.stdout.write(`${image}, ${Math.round(size / 1000)} kB\n`)
} finally {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
}
