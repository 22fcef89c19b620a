// The page's own script and style, as the build left them: beside the CLI's code, or in `dist` when it runs from source.

import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

export type Client = { script: string; style: string }

const FOLDERS = ["./", "../../dist/"]

/** Rejects when the package was not built. */
export async function readClient(): Promise<Client> {
  for (const folder of FOLDERS) {
    const read = (name: string) => readFile(fileURLToPath(new URL(`${folder}${name}`, import.meta.url)), "utf8")
    try {
      return { script: await read("report-page.js"), style: await read("report-page.css") }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
  throw new Error("the report's page is not built: report-page.js is missing beside the CLI; run `npm run build`")
}
