// The report as one HTML file: the client's script and style, and the report as data. What comes from sessions is in
// the data alone, where it cannot become markup, and the policy lets nothing run or load but what we put in.

import { createHash } from "node:crypto"
import { count } from "../replay/saved.ts"
import type { Client } from "./client.ts"
import type { Report } from "./report.ts"
import { headline } from "./words.ts"

/** How every report begins: by this it is known that a file may be written over. */
export const MARK = "<!doctype html>\n<!-- written by hudfold report -->\n"

export function pageOf(report: Report, { script, style }: Client): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ")
  return `${MARK}<html lang="en">
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
${withoutScript(report)}
<p>With scripts allowed this page draws the context over the calls with the plugin and without, what came from the cache, the cost of each tool, the folds, and the HUD at every call. It loads nothing from anywhere.</p>
</noscript>
<script type="application/json" id="data">${dataOf(report)}</script>
<script>${script}</script>
</body>
</html>
`
}

/** No `<` is left in it, so that nothing in a session can end the element it stands in. */
function dataOf(report: Report): string {
  return JSON.stringify(report).replace(/</g, "\\u003c")
}

function titleOf({ sessions }: Report): string {
  const [only] = sessions
  return `${sessions.length === 1 && only ? only.title : count(sessions.length, "session")} · hudfold report`
}

function withoutScript({ sessions, sum }: Report): string {
  const all = sessions.length === 1 ? [] : [`<p>All ${sessions.length} sessions: ${safe(headline(sum).join("; "))}</p>`]
  const each = sessions.map(({ title, replay }) => `<p>${safe(title)}: ${safe(headline(replay).join("; "))}</p>`)
  return [...all, ...each].join("\n")
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`
}

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
