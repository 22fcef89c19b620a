// Builds the report's page for the browser: one script and one style sheet.

import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = join(root, "src/report/page")

/** Writes `report-page.js` and `report-page.css` into the folder. Rejects when they do not build. */
export async function buildReportPage(outdir: string): Promise<Bun.BuildOutput[]> {
  // an immediately invoked function, because the page has the script inline
  const naming = "report-page.[ext]"
  const common = { outdir, target: "browser", format: "iife", minify: true, naming, metafile: true } as const
  return [
    await Bun.build({ ...common, entrypoints: [join(page, "main.ts")] }),
    await Bun.build({ ...common, entrypoints: [join(page, "report.css")] }),
  ]
}
