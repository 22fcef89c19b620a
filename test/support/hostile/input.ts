// An input of the corpus: a text that a program, page, file or person may put where the plugin reads, and what it tries.
// Escapes are spelled out, so that the sources hide nothing from a reader.

export type Input = {
  /** unique; names its tests */
  id: string
  /** what it tries, to complete "it tries to …" */
  tries: string
  text: string
}

/** Inputs that try the same in several spellings, `kind-name` each. */
export function spellings(kind: string, tries: string, texts: Readonly<Record<string, string>>): Input[] {
  return Object.entries(texts).map(([name, text]) => ({ id: `${kind}-${name}`, tries, text }))
}
