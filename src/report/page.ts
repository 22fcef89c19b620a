// The report as one HTML file: the page's script and style, and the report as data. Text from sessions is only in the data,
// where it cannot become markup, and the content security policy blocks every other script and every request.

import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { shippedFile } from "../system/data-folder.ts"
import { plural } from "../text/format.ts"
import type { SessionReport } from "./session.ts"
import { billSentence } from "./words.ts"

/** What a report shows: plain JSON, embedded in the page. */
export type ReportData = {
  /** name and version of the program that wrote it */
  madeBy: string
  madeAtMs: number
  /** the provider whose prices were used instead of the recorded ones */
  price?: string | undefined
  sessions: SessionReport[]
  /** sessions that could not be read */
  failed: number
}

/** The beginning of every report: a file that begins this way may be overwritten. */
export const REPORT_PREFIX = "<!doctype html>\n<!-- written by hudfold report -->\n"

export function pageOf(report: ReportData, { script, style }: PageAssets): string {
  // without `<`, so that no text of a session can close the script element around it
  const data = JSON.stringify(report).replace(/</g, "\\u003c")
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ")
  return `${REPORT_PREFIX}<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${safe(titleOf(report))}</title>
<style>${style}</style>
</head>
<body>
<noscript>
<h1>hudfold report</h1>
<p>${safe(billSentence(report.sessions.map(({ replay }) => replay)))}</p>
<p>With scripts allowed, this page shows the context over the calls with and without the plugin, what was read from the cache, the cost of each tool, the folds, and the HUD at every call. It loads nothing from the network.</p>
</noscript>
<script type="application/json" id="data">${data}</script>
<script>${script}</script>
</body>
</html>
`
}

function titleOf({ sessions }: ReportData): string {
  const [only] = sessions
  return `${sessions.length === 1 && only ? only.title : plural(sessions.length, "session")} · hudfold report`
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`
}

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

export type PageAssets = { script: string; style: string }

/** Rejects if the package was not built. */
export async function readPageAssets(): Promise<PageAssets> {
  const read = (name: string) =>
    readFile(shippedFile("the report's page", import.meta.url, [`./${name}`, `../../dist/${name}`]), "utf8")
  return { script: await read("report-page.js"), style: await read("report-page.css") }
}
