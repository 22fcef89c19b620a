// Shared by the tests of the report: sessions replayed with the default options, and a page built from the sources.

import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildReportPage } from "../../scripts/report-page.ts"
import { createEnv } from "../../src/digest/digests.ts"
import type { Saving } from "../../src/fold/saving.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { pricingOverride, readOptions, requestOptionsOf } from "../../src/options.ts"
import type { PageAssets, ReportData } from "../../src/report/page.ts"
import { reportSession, type SessionReport } from "../../src/report/session.ts"
import { ROOT } from "../support/session.ts"

export type Given = {
  id?: string
  title?: string
  directory?: string
  messages: readonly HostMessage[]
  ran?: Saving
  /** the plugin's options */
  wanted?: object
}

export function sessionOf({
  id = "ses_1",
  title = "A session",
  directory = "/home/dev/shop",
  messages,
  ran,
  wanted = {},
}: Given) {
  const { options } = readOptions(wanted)
  const replayed = {
    ...requestOptionsOf(options),
    disabledAgents: options.disabledAgents,
    pricingOverride: pricingOverride(options),
  }
  return reportSession(
    { id, title, directory, skipped: 0, messages: conversationOf(messages), ran },
    replayed,
    createEnv(ROOT),
  )
}

export function reportOf(given: readonly Given[]): ReportData {
  const sessions: SessionReport[] = given.map(sessionOf)
  const made = { madeBy: "opencode-hudfold test", madeAtMs: 0 }
  return { ...made, sessions, failed: 0 }
}

/** The page's script and style, built from the current sources. */
export async function buildPageAssets(): Promise<PageAssets> {
  const folder = mkdtempSync(join(tmpdir(), "hud-page-"))
  try {
    await buildReportPage(folder)
    const text = (name: string) => readFileSync(join(folder, name), "utf8")
    return { script: text("report-page.js"), style: text("report-page.css") }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
