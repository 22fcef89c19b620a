// The demo's task: a small repository with two bugs, and what the scripted agent does about them, call by call. It resembles
// real work: a test that fails twice for different reasons, a file that is read again, a file that another program changes
// between two prompts.

import type { Reply, ToolCall } from "./wire.ts"

export type Step = {
  /** what the agent does, in a few words */
  does: string
  reply: Reply
}

export type Turn = {
  prompt: string
  /** files that another program changes on disk before this prompt, a moment after the turn before it */
  changed?: Readonly<Record<string, string>>
  steps: readonly Step[]
}

const PRICE = `// Money is kept in cents. A price list has a base price and a discount in percent.
export function discounted(cents, percent) {
  return cents - cents * percent
}

export function total(items) {
  let sum = 0
  for (const item of items) sum += discounted(item.cents, item.percent ?? 0)
  return sum
}
`

const FORMAT = `export function euros(cents) {
  return \`\${(cents / 100).toFixed(2)} EUR\`
}
`

const FORMAT_CHANGED = `// The shop now sells in Switzerland too.
export function money(cents, currency = "EUR") {
  return \`\${(cents / 100).toFixed(2)} \${currency}\`
}
`

const TEST = `import assert from "node:assert/strict"
import { test } from "node:test"
import { discounted, total } from "../src/price.js"

test("takes the discount off", () => assert.equal(discounted(1000, 25), 750))
test("rounds to whole cents", () => assert.equal(discounted(999, 15), 849))
test("adds up a basket", () => assert.equal(total([{ cents: 1000, percent: 25 }, { cents: 500 }]), 1250))
`

const FORMAT_TEST = `import assert from "node:assert/strict"
import { test } from "node:test"
import { receipt } from "../src/receipt.js"

test("prints the total of a basket", () => assert.equal(receipt([{ cents: 1000, percent: 25 }]), "Total 7.50 EUR"))
`

const RECEIPT = `import { money } from "./format.js"
import { total } from "./price.js"

export function receipt(items) {
  return \`Total \${money(total(items))}\`
}
`

export const FILES: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify({ name: "shop", private: true, type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
  "README.md": "# Shop\n\nPrices, discounts and totals. Run the tests with `npm test`.\n",
  "src/price.js": PRICE,
  "src/format.js": FORMAT,
  "test/price.test.js": TEST,
}

const TODO = ["see why the tests fail", "correct the discount", "run all tests"]

const RUN_TESTS = call("bash", { command: "node --test", description: "Run the tests" })

export const TURNS: readonly Turn[] = [
  {
    prompt: "The tests fail since the discounts went in. Find out why and make them pass.",
    steps: [
      { does: "plans the work", reply: { text: "I plan this first.", calls: [todo(0)] } },
      { does: "looks at the folder", reply: { calls: [read(".")] } },
      {
        does: "reads three files",
        reply: { calls: [read("src/price.js"), read("src/format.js"), read("test/price.test.js")] },
      },
      { does: "runs the tests: they fail", reply: { calls: [RUN_TESTS] } },
      {
        does: "edits src/price.js: the percentage is not divided by 100",
        reply: {
          thinking: "A discount of 25 must take a quarter off, the code multiplies by 25.",
          text: "The percentage is used as it is.",
          calls: [edit("src/price.js", "cents - cents * percent", "cents - (cents * percent) / 100"), todo(1)],
        },
      },
      { does: "runs the tests: one still fails", reply: { calls: [RUN_TESTS] } },
      { does: "reads src/price.js again", reply: { calls: [read("src/price.js")] } },
      {
        does: "edits src/price.js: the result is not rounded",
        reply: {
          calls: [
            edit("src/price.js", "cents - (cents * percent) / 100", "Math.round(cents - (cents * percent) / 100)"),
          ],
        },
      },
      { does: "runs the tests: they pass", reply: { calls: [RUN_TESTS] } },
      { does: "ticks off its list", reply: { calls: [todo(3)] } },
      {
        does: "reports",
        reply: { text: "Both faults are mended: the percentage was not divided by 100, and cents were not rounded." },
      },
    ],
  },
  {
    prompt: "Good. Now add a receipt that prints the total, with a test.",
    changed: { "src/format.js": FORMAT_CHANGED },
    steps: [
      { does: "reads src/format.js, which changed on disk", reply: { calls: [read("src/format.js")] } },
      {
        does: "writes the receipt and its test",
        reply: { calls: [write("src/receipt.js", RECEIPT), write("test/receipt.test.js", FORMAT_TEST)] },
      },
      { does: "runs the tests: they pass", reply: { calls: [RUN_TESTS] } },
      { does: "reports", reply: { text: "There is a receipt now, and its test passes." } },
    ],
  },
]

function call(name: string, args: Record<string, unknown>): ToolCall {
  return { name, arguments: args }
}

function read(filePath: string): ToolCall {
  return call("read", { filePath })
}

function edit(filePath: string, oldString: string, newString: string): ToolCall {
  return call("edit", { filePath, oldString, newString })
}

function write(filePath: string, content: string): ToolCall {
  return call("write", { filePath, content })
}

/** The list with the first `done` of its entries done and the next one under way. */
function todo(done: number): ToolCall {
  const status = (at: number) => (at < done ? "completed" : at === done ? "in_progress" : "pending")
  return call("todowrite", { todos: TODO.map((content, at) => ({ content, status: status(at), priority: "medium" })) })
}
