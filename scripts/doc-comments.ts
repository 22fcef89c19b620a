// The doc comments of a file's schemas, by field. What a field means is said once, beside its schema, where it costs the
// plugin nothing; this reads it from there. Knows sources as Biome formats them, a field to a line, and no other.

/** What is said of a constant or one of its fields, and of what it holds. */
export type Said = {
  comment?: string
  /** other constants that the line names */
  names: readonly string[]
  fields: Map<string, Said>
}

const CONSTANT = /^(?:export )?const (\w+) = (.*)$/
const FIELD = /^( +)(?:"([^"]+)"|(\w+))(?:: (.*)|,)$/

/** Of every constant at the top of the source, by its name. */
export function readComments(source: string): Map<string, Said> {
  const constants = new Map<string, Said>()
  /** the constant, the field in it, the field in that, each with its indentation */
  let around: { indent: number; said: Said }[] = []
  let comment: string | undefined
  for (const line of joinComments(source).split("\n")) {
    const found = /^ *\/\*\* (.*) \*\/$/.exec(line)?.[1]
    if (found !== undefined) {
      comment = found
      continue
    }
    const constant = CONSTANT.exec(line)
    const field = FIELD.exec(line)
    if (constant) {
      const said = saidOf(comment, constant[2])
      constants.set(constant[1] ?? "", said)
      around = [{ indent: 0, said }]
    } else if (field) {
      const indent = field[1]?.length ?? 0
      around = around.filter((one) => one.indent < indent)
      const said = saidOf(comment, field[4])
      around.at(-1)?.said.fields.set(field[2] ?? field[3] ?? "", said)
      around.push({ indent, said })
    }
    comment = undefined
  }
  return constants
}

/** The header comment as paragraphs. */
export function readHeader(source: string): string {
  const lines = source.split("\n")
  const end = lines.findIndex((line) => !line.startsWith("//"))
  const text = lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""))
  return text.join("\n")
}

function saidOf(comment: string | undefined, rest = ""): Said {
  return { ...(comment === undefined ? {} : { comment }), names: rest.match(/\b\w+Schema\b/g) ?? [], fields: new Map() }
}

/** Comments of several lines on one. */
function joinComments(source: string): string {
  return source.replace(/\/\*\*\n[\s\S]*?\*\//g, (comment) =>
    comment.replace(/\n +\*(?!\/) ?/g, " ").replace(/\s+/g, " "),
  )
}
