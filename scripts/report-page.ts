// Builds the report's page for the browser: the client with uPlot in it as one script, and one style sheet.

import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = join(root, "src/report/page")

/** Writes `report-page.js` and `report-page.css` into the folder. Rejects when they do not build. */
export async function buildReportPage(outdir: string): Promise<Bun.BuildOutput[]> {
  // an immediately called function: the page has it inline, where a module cannot be
  const licence = await readFile(join(root, "node_modules/uplot/LICENSE"), "utf8")
  const naming = "report-page.[ext]"
  const common = { outdir, target: "browser", format: "iife", minify: true, naming, metafile: true } as const
  // the page goes where its reader sends it, and the licence asks to go along
  const banner = `/* with uPlot\n${licence.trim()}\n*/`
  return [
    await Bun.build({ ...common, entrypoints: [join(page, "main.ts")], banner }),
    await Bun.build({ ...common, entrypoints: [join(page, "report.css")] }),
  ]
}

if (import.meta.main) await buildReportPage(join(root, "dist"))
