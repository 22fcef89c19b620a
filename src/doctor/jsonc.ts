// JSON as OpenCode reads its config: with comments and trailing commas. Only reads, so that it need not keep any of them.

/** Strings are matched first, so that what looks like a comment inside one stays. */
const COMMENTS = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g
/** A comma with nothing before it trails nothing, and is an error to OpenCode too. */
const TRAILING = /"(?:[^"\\\n]|\\.)*"|[{[]\s*,|,(?=\s*[}\]])/g

/** Throws SyntaxError; positions in its message are those of the text. */
export function parseJsonc(text: string): unknown {
  const bare = text.replace(/^\ufeff/, " ").replace(COMMENTS, (found) => (isString(found) ? found : blank(found)))
  return JSON.parse(bare.replace(TRAILING, (found) => (found === "," ? " " : found)))
}

function isString(found: string): boolean {
  return found.startsWith('"')
}

/** As long as it was, with its line breaks. */
function blank(found: string): string {
  return found.replace(/[^\n]/g, " ")
}
