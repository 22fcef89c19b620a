// What an input of the corpus is: a text that some program, page, file or person may put where the plugin reads, and what
// it tries. Escapes are written out in the sources, so that the corpus itself hides nothing from who reads it.

export type Input = {
  /** unlike any other's; the name of its tests */
  id: string
  /** what it tries, as a sentence's end: "it tries to …" */
  tries: string
  text: string
}

/** Inputs that try the same in several spellings, `kind-name` each. */
export function spellings(kind: string, tries: string, texts: Readonly<Record<string, string>>): Input[] {
  return Object.entries(texts).map(([name, text]) => ({ id: `${kind}-${name}`, tries, text }))
}
