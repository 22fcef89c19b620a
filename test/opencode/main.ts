// Runs the demo from the sources: `bun test/opencode/main.ts [PLUGIN]`. Installed, `hudfold demo` does the same.

import { fileURLToPath } from "node:url"
import { runDemo } from "./demo.ts"
import { findOpencode } from "./host.ts"
import { wantsColour } from "./print.ts"

process.exitCode = await runDemo({
  opencode: findOpencode(),
  plugin: process.argv[2] ?? fileURLToPath(new URL("../../src/plugin.ts", import.meta.url)),
  write: (text) => void process.stdout.write(text),
  colour: wantsColour(process.stdout, process.env),
})
