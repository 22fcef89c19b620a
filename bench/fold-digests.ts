// Compares folds with a model's digests to folds with those of `extract`, by replaying the same sessions with each. All of the
// model's digests are written before the replay begins, which favours the model: live, its digest is often not ready when
// the output is folded.
//
//   bun bench/fold-digests.ts --model /path/to/model.gguf session.json...
//
// Prints recalls (calls that would have had to recall something), lost lines and cost. --outputs N: the N largest of
// each session are written by the model (40). --budget N tokens of a document are shown to it (600). --threads N.

import { parseArgs } from "node:util"
import { digestCandidates } from "../src/digest/candidate.ts"
import { createEnv } from "../src/digest/digests.ts"
import { extract } from "../src/digest/extract/extract.ts"
import { gainsFromModel, ground } from "../src/digest/ground/ground.ts"
import { promptFor } from "../src/digest/prompt.ts"
import { conversationOf } from "../src/host/v1/conversation.ts"
import { readOptions, requestOptionsOf } from "../src/options.ts"
import type { Digest } from "../src/output/digest.ts"
import { priceNamed } from "../src/replay/prices.ts"
import { replaySession } from "../src/replay/replay.ts"
import { createLedger } from "../src/session/ledger.ts"
import { readExport } from "../src/store/export.ts"
import type { Recording } from "../src/store/recording.ts"
import { take } from "../test/support/conversation.ts"
import { type Opened, openBackend } from "./eval/backends.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string" },
    outputs: { type: "string", default: "40" },
    budget: { type: "string", default: "600" },
    threads: { type: "string", default: "0" },
  },
})
if (values.model === undefined || positionals.length === 0) {
  process.stderr.write("expected --model and files of `opencode export`\n")
  process.exit(2)
}
const price = priceNamed("anthropic", {})
const opened = await openBackend(values.model, Number(values.threads))
process.stdout.write(
  "session                     digests   cost extract    model   recalls extract   model   lost lines extract   model\n",
)
try {
  for (const path of positionals) await compare(await readExport(path), opened)
} finally {
  await opened.close()
}

async function compare(session: Recording, { backend }: Opened): Promise<void> {
  const written = backend ? await write(session, backend) : new Map<string, Digest>()
  const [byExtract, byModel] = [new Map<string, Digest>(), written].map((digests) => {
    const of = (key: string, source: Parameters<typeof extract>[0]) => digests.get(key) ?? extract(source)
    const options = {
      ...requestOptionsOf(readOptions({}).options),
      disabledAgents: [],
      prices: {},
      ...(price ? { price } : {}),
    }
    const {
      without,
      with: spent,
      recalls,
    } = replaySession(
      conversationOf(session.messages),
      options,
      createEnv(session.info.directory, { of, queue: undefined }),
    )
    return { cost: (spent.cost + recalls.cost) / without.cost, calls: recalls.calls, lines: recalls.lostLines }
  })
  if (!byExtract || !byModel) return
  const cells = [
    byExtract.cost.toFixed(3),
    byModel.cost.toFixed(3),
    byExtract.calls,
    byModel.calls,
    byExtract.lines,
    byModel.lines,
  ]
  const name = session.info.title.slice(0, 26).padEnd(26)
  process.stdout.write(
    `${name} ${String(written.size).padStart(8)} ${cells.map((cell) => String(cell).padStart(12)).join("")}\n`,
  )
}

/** The model's digests of the session's largest outputs, by digest key. */
async function write({ messages }: Recording, backend: NonNullable<Opened["backend"]>): Promise<Map<string, Digest>> {
  const ledger = createLedger(createEnv())
  const { fresh } = take(ledger, messages)
  const written = new Map<string, Digest>()
  const largest = digestCandidates(conversationOf(messages), fresh)
    .filter((candidate) => gainsFromModel(extract(candidate.source())))
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, Number(values.outputs))
  for (const candidate of largest) {
    const source = candidate.source()
    const answer = await backend.write(
      promptFor(source, { budgetTokens: Number(values.budget) }),
      new AbortController().signal,
    )
    written.set(candidate.key, ground(answer.structured, source, extract(source)).digest)
  }
  return written
}
