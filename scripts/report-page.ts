// Builds the report's page for the browser: one script with uPlot in it, and one style sheet.

import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = join(root, "src/report/page")

/** Writes `report-page.js` and `report-page.css` into the folder. Rejects when they do not build. */
export async function buildReportPage(outdir: string): Promise<Bun.BuildOutput[]> {
  // an immediately invoked function, because the page has the script inline
  const licence = await readFile(join(root, "node_modules/uplot/LICENSE"), "utf8")
  const naming = "report-page.[ext]"
  const common = { outdir, target: "browser", format: "iife", minify: true, naming, metafile: true } as const
  // uPlot's licence must accompany its code, also when a user passes the page on
  const banner = `/* with uPlot\n${licence.trim()}\n*/`
  return [
    await Bun.build({ ...common, entrypoints: [join(page, "main.ts")], banner }),
    await Bun.build({ ...common, entrypoints: [join(page, "report.css")] }),
  ]
}

if (import.meta.main) await buildReportPage(join(root, "dist"))
