// A process of its own, for it loads native code: reads a model's path and texts, a JSON list, from stdin; writes for each
// text which special tokens a prompt with it holds, in order, as JSON.

import { openChat } from "../../../sidecar/chat.ts"
import type { NodeLlamaCpp } from "../../../sidecar/device.ts"
import { INSTRUCTION } from "../../../src/digest/prompt.ts"

const engine = (await import(
  new URL("../../../sidecar/node_modules/node-llama-cpp/dist/index.js", import.meta.url).href
)) as NodeLlamaCpp
const [modelPath, ...texts] = (await Bun.stdin.json()) as [string, ...string[]]
const llama = await engine.getLlama({ gpu: false, build: "never", skipDownload: true, progressLogs: false })
const model = await llama.loadModel({ modelPath, gpuLayers: 0, vocabOnly: true })
const chat = openChat(engine, model)
const found = texts.map((text) =>
  chat
    .promptOf(INSTRUCTION, text)
    .filter((token) => {
      const { control, userDefined, unknown } = model.getTokenAttributes(token)
      return control || userDefined || unknown
    })
    .map((token) => model.detokenize([token], true)),
)
// the engine may have said something before
process.stdout.write(`\n${JSON.stringify(found)}`)
process.exit(0)
