// A long piece of work: as many steps as wanted, in turns of 36, on modules of a small project. Each step is one a coding agent makes: it reads,
// searches, edits, writes, runs commands, fails now and then, thinks and says what it does. 200 steps are some
// 170,000 tokens.

import type { Reply, ToolCall } from "./wire.ts"

/** Long enough that its line in a record is shorter. */
const CLOSING = "Nothing else was touched; what is left to do is written down in the notes beside the sources. ".repeat(
  9,
)
const MODULES = 20
const FUNCTIONS = 90
/** Turns end with a step that is short or long, by turns. */
const STEPS_PER_TURN = 36

export type WorkTurn = { prompt: string; replies: readonly Reply[] }

/** The project. Each module is some 3,000 tokens. */
export const WORK_FILES: Readonly<Record<string, string>> = {
  "README.md": "# A workshop\n",
  // its name makes it a check, which passes for every module but the seventh
  check: 'case "$1" in *m7.ts) echo "FAIL $1: expected 200, got 401"; exit 1;; *) echo "PASS $1";; esac\n',
  ...Object.fromEntries(Array.from({ length: MODULES }, (_, at) => [`src/m${at + 1}.ts`, moduleOf(at + 1)])),
}

function moduleOf(module: number): string {
  const functions = Array.from({ length: FUNCTIONS }, (_, at) => {
    const weight = (module * 7919 + at * 104_729) % 9973
    return `export function part_${module}_${at}(input: number) {\n  return input * ${weight} + limit_${module} // naïve — 試験 🙂 ${at % 7 === 0 ? "" : "planned"}\n}\n`
  })
  return [`const limit_${module} = ${module * 100}\n`, ...functions].join("\n")
}

/** `steps` steps in turns of 36, each with a closing text after its steps. Deterministic. */
export function longWork(steps: number): WorkTurn[] {
  return Array.from({ length: Math.ceil(steps / STEPS_PER_TURN) }, (_, turn) => {
    const first = turn * STEPS_PER_TURN
    const count = Math.min(STEPS_PER_TURN, steps - first)
    return {
      prompt: `Turn ${turn}: raise the limits of "modules" <${turn * 4 + 1}> to ${turn * 4 + 4} — keep naïve names,\n  and mind word-${turn}-of-the-user.`,
      replies: [
        ...Array.from({ length: count }, (_, at) => stepOf(first + at)),
        { text: `Turn ${turn} is done: the limits of its modules are raised and their checks ran. ${CLOSING}` },
      ],
    }
  })
}

/**
 * The same kinds of steps in a random order, in turns of 1 to 12 steps, with closing texts short and long. The same seed gives
 * the same work.
 */
export function randomWork(steps: number, seed: number): WorkTurn[] {
  let state = seed
  // a linear congruential generator (Numerical Recipes)
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const turns: WorkTurn[] = []
  for (let left = steps; left > 0; ) {
    const count = Math.min(left, 1 + below(12))
    left -= count
    const replies = Array.from({ length: count }, (_, at) => stepOf(200 * turns.length + 8 * at + below(8)))
    // many turns end with a short check, which stays where the long text after it goes
    if (below(2) === 0) replies.push(stepOf(200 * turns.length + 3))
    const text = below(2) === 0 ? "Done so far." : `Turn ${turns.length} is done. ${CLOSING}`
    turns.push({
      prompt: `Turn ${turns.length}: go on <with> the "next" of ${below(99)}`,
      replies: [...replies, { text }],
    })
  }
  return turns
}

/** The text with which the edit of this step replaces a line, as it stands in no file before. */
function editedBy(step: number): string {
  return `  // raised in step ${step}: was too low for the largest input, see the check of it\n  const raised_${step} = input + ${step}\n`
}

/** Eight kinds of steps by turns, ten steps on each module. */
function stepOf(step: number): Reply {
  const module = 1 + (Math.floor(step / 10) % MODULES)
  const file = `src/m${module}.ts`
  switch (step % 8) {
    case 0:
      return { text: `Now let me look at ${file}.`, calls: [call("read", { filePath: file })] }
    case 1: {
      const search = bash(`grep -n 'part_${module}_1' src/*.ts`)
      return { thinking: `Who calls part_${module}? I search before I change it.`, calls: [search] }
    }
    case 2: {
      const name = `export function part_${module}_${step % FUNCTIONS}(input: number) {\n`
      const edit = call("edit", { filePath: file, oldString: name, newString: `${name}${editedBy(step)}` })
      const thinking = `The limit is too low in part_${module}_${step % FUNCTIONS}, because ${"it was never measured. ".repeat(step % 5)}`
      return { thinking, text: `The limit of ${file} is the cause; I raise it.`, calls: [edit] }
    }
    case 3:
      return { calls: [bash(`sh check ${file}`)] }
    case 4: {
      const lines = call("read", { filePath: file, offset: 1 + (step % 20), limit: 160 })
      return { thinking: "Two looks at once.", calls: [lines, bash(`sed -n '1,${90 + (step % 30)}p' ${file}`)] }
    }
    case 5: {
      const content = `# Notes on step ${step}\n\n${`The limit ${step} of ${file} was raised and checked.\n`.repeat(8)}`
      return {
        text: `I write down what step ${step} found.`,
        calls: [call("write", { filePath: `notes/${step}.md`, content })],
      }
    }
    case 6:
      // there is no such text, so this fails
      return { calls: [call("edit", { filePath: file, oldString: `nothing_${step} `.repeat(20), newString: "x" })] }
    default: {
      const list = bash(`grep -n 'part_${module}_' ${file}`)
      return {
        thinking: `All parts of module ${module}, to be sure.`,
        text: "I check that all parts are there.",
        calls: [list],
      }
    }
  }
}

function call(name: string, args: Readonly<Record<string, unknown>>): ToolCall {
  return { name, arguments: args }
}

function bash(command: string): ToolCall {
  return call("bash", { command, description: "Runs a command" })
}
