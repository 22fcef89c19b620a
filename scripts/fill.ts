// Documents with generated sections, between marks that name the command.

/** The text with the section between its marks replaced. Throws when there are no marks. */
export function fill(file: string, text: string, section: string, command: string, written: string): string {
  const begin = `<!-- ${section}: written by \`${command}\` -->\n`
  const end = `<!-- /${section} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${file} has no marks for ${section}: expected ${begin.trim()} and ${end}`)
  return text.slice(0, from + begin.length) + written + text.slice(to)
}
