// Whether the plugin's options are valid, and whether another plugin does the same work.

import { basename } from "node:path"
import { type Options, readOptions } from "../options.ts"
import { asRecord } from "../system/values.ts"
import { type CheckResult, fail, ok, warn } from "./check.ts"
import type { Config } from "./config-files.ts"
import type { Listing } from "./listing.ts"
import { PACKAGE } from "./plugin-list.ts"

/** The options in effect and the file they are in; the defaults if none are given. */
export function optionsOf({ ours }: Listing): { options: Options; path?: string; problems: Problem[] } {
  const last = ours.at(-1)
  const { options, problems } = readOptions(last?.options)
  return { options, problems, ...(last === undefined ? {} : { path: last.file.path }) }
}

type Problem = ReturnType<typeof readOptions>["problems"][number]

export function checkOptions(listing: Listing): CheckResult[] {
  const { options, path, problems } = optionsOf(listing)
  if (path === undefined) return []
  if (problems.length > 0) {
    return problems.map(({ option, message }) =>
      fail("options", withoutSecret(option, message), `correct ${option === ALL ? "its options" : option} in ${path}`),
    )
  }
  if (!options.enabled) {
    return [warn("options", "the plugin is switched off", `remove "enabled": false from its options in ${path}`)]
  }
  const names = Object.keys(asRecord(listing.ours.at(-1)?.options) ?? {})
  return [ok("options", names.length ? `valid: ${names.join(", ")}` : "none given, so the defaults apply")]
}

/** Stands for the options as a whole in a problem. */
const ALL = "(all)"

/** The message without the value, if that is a key or may contain one. */
function withoutSecret(option: string, message: string): string {
  const pattern = option === ALL || /key$/i.test(option) ? /, got .*(?=; using)/ : /, got [{[].*(?=; using)/
  return message.replace(pattern, "")
}

/** Plugins that remove or rewrite old tool outputs, recognized by list entry or file name. */
const OTHERS: readonly { name: string; pattern: RegExp }[] = [
  { name: "DCP", pattern: /(?:^|[/\\@_-])(?:opencode-dcp(?:$|[/\\@._-])|dcp(?:$|[@._-]))|dynamic-context-pruning/i },
  { name: "ACP", pattern: /(?:^|[/\\@_-])opencode-acp(?:$|[/\\@._-])/i },
  { name: "magic-context", pattern: /magic-context/i },
]

export function checkConflicts(config: Config, listing: Listing): CheckResult[] {
  const folding = optionsOf(listing).options.fold.enabled
  const found = OTHERS.flatMap(({ name, pattern }) => {
    const listed = listing.server.find((one) => pattern.test(one.name) || pattern.test(one.spec))
    const where = listed?.file.path ?? config.pluginFiles.find((path) => pattern.test(basename(path)))
    if (where === undefined) return []
    return [{ name, where, end: listed ? `remove ${name} from ${where}` : `move ${where} away` }]
  })
  if (found.length === 0) return [ok("conflicts", "no other plugin here prunes the context")]
  return found.map(({ name, where, end }) => {
    if (!folding) return ok("conflicts", `${name} prunes the context (${where}), and fold.enabled is false here`)
    const what = `${name} prunes the context too (${where}): each changes messages the other keeps stable, so the prompt cache is lost`
    return warn("conflicts", what, `keep one: ${end}, or set "fold": { "enabled": false } in the options of ${PACKAGE}`)
  })
}
