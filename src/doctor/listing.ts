// Whether OpenCode's config can be read and lists both halves of the plugin, once, in one version.

import { basename, dirname, join } from "node:path"
import type { Environment } from "../system/data-folder.ts"
import { type Check, fail, inShell, ok, warn } from "./check.ts"
import { type Config, type ConfigFile, isOn } from "./config-files.ts"
import { isOurs, type Listed, listedIn, mergedFiles, OURS, withoutDoubles } from "./plugin-list.ts"

export type Listing = {
  /** every plugin that OpenCode would load in the server, ours and others */
  server: Listed[]
  /** ours in the server; the last one's options count */
  ours: Listed[]
  /** ours in the TUI */
  panel: Listed[]
  /** our own entries before OpenCode drops doubles */
  written: Listed[]
}

export async function readListing(config: Config, env: Environment, home: string): Promise<Listing> {
  const [server, tui] = await Promise.all([listedIn(mergedFiles(config), env, home), listedIn(config.tui, env, home)])
  const loaded = withoutDoubles(server)
  return {
    server: loaded,
    ours: loaded.filter(isOurs),
    panel: withoutDoubles(tui).filter(isOurs),
    written: server.filter(isOurs),
  }
}

export function checkConfig(config: Config): Check[] {
  const files = [...config.server, ...config.tui]
  const isBroken = ({ problem }: ConfigFile) => problem !== undefined
  const correct = ({ path, problem = "" }: ConfigFile) =>
    /JSON|"plugin"/.test(problem)
      ? "correct it; comments and trailing commas are fine"
      : `put that right, or move the file away: mv ${inShell(path)} ${inShell(`${path}.old`)}`
  const broken = [
    ...config.server
      .filter(isBroken)
      .map((file) =>
        fail("config", `${file.path} ${file.problem}, and OpenCode does not start with it`, correct(file)),
      ),
    ...config.tui
      .filter(isBroken)
      .map((file) => warn("config", `${file.path} ${file.problem}, and OpenCode goes on without it`, correct(file))),
  ]
  if (broken.length > 0) return broken
  if (files.length === 0) return [ok("config", `OpenCode has no config file yet; its folder is ${config.folder}`)]
  return [ok("config", `readable: ${files.map(({ path }) => path).join(", ")}`)]
}

const INSTALL = `opencode plugin ${OURS} (with --global for all projects), then start OpenCode anew`

export function checkListed(config: Config, { ours, written }: Listing, env: Environment): Check {
  if (isOn(env.OPENCODE_PURE)) {
    return fail("plugin", "OPENCODE_PURE is set, with which OpenCode loads no plugin at all", "unset OPENCODE_PURE")
  }
  const [last] = ours.slice(-1)
  if (!last) {
    const found = "no plugin list of OpenCode's config names it for this folder"
    return fail("plugin", found, `${INSTALL}; or add "${OURS}" to "plugin" in ${globalFile(config)}`)
  }
  const missing = ours.find(({ place }) => place === "nothing")
  if (missing) {
    const found = `${nameIn(missing)}, and there is nothing at ${missing.path}`
    return fail("plugin", found, `correct the path in ${missing.file.path}, or list "${OURS}"`)
  }
  if (ours.length > 1) {
    const found = `listed ${ours.length} times, and OpenCode loads each: ${ours.map(nameIn).join("; ")}`
    return warn("plugin", found, `leave one of them in, best the one in ${last.file.path}`)
  }
  if (written.length > 1) {
    const found = `listed ${written.length} times (${written.map(nameIn).join("; ")}); only the last counts, with its options`
    const others = new Set(written.slice(0, -1).map(({ file }) => file.path))
    const from = [...others].map((path) => (path === last.file.path ? `${path}, but for the last one there` : path))
    return warn("plugin", found, `take it out of ${from.join(" and of ")}`)
  }
  return ok("plugin", nameIn(last))
}

export function checkPanel(config: Config, { ours, panel }: Listing): Check | undefined {
  const [one] = ours
  // what installs the plugin installs the panel
  if (!one) return undefined
  const [last] = panel.slice(-1)
  if (!last) {
    const found = "no tui.json lists the plugin, so there is no panel and none of its commands"
    return warn("panel", found, `${addPanel(config, one)}, then start OpenCode anew`)
  }
  const switches = [...config.tui, ...(config.switched ? [config.switched] : [])]
  const decides = switches.filter((file) => switchIn(file) !== undefined).at(-1)
  if (decides && switchIn(decides) === false) {
    const fix =
      decides === config.switched
        ? `in OpenCode's command palette choose "Plugins" and switch ${OURS} on`
        : `take "${OURS}" out of "plugin_enabled" in ${decides.path}`
    return warn("panel", `${nameIn(last)}, but switched off in ${decides.path}`, fix)
  }
  if (last.place === "nothing") {
    const fix = `correct the path in ${last.file.path}, or list "${OURS}"`
    return warn("panel", `${nameIn(last)}, and there is nothing at ${last.path}`, fix)
  }
  if (last.place === "file" && last.path === one.path) {
    const fix = `list the folder there, ${JSON.stringify(last.folder)}, and OpenCode finds the file for each`
    return warn("panel", `${nameIn(last)} is the server's half, which has no panel`, fix)
  }
  return ok("panel", nameIn(last))
}

/** Undefined when there is nothing to compare. `own` is the version of this command, `seen` of the last session. */
export function checkVersions({ ours, panel }: Listing, own: string, seen: string | undefined): Check | undefined {
  const [server, tui] = [ours.at(-1), panel.at(-1)]
  if (!server) return undefined
  if (server.version === undefined) {
    return ok("version", `${own} is this command's; OpenCode has not fetched ${JSON.stringify(server.spec)} yet`)
  }
  if (tui?.version !== undefined && tui.version !== server.version) {
    const found = `the plugin is ${server.version} (${server.file.path}), its panel ${tui.version} (${tui.file.path})`
    return warn("version", found, "name the same folder or version in both files, then start OpenCode anew")
  }
  if (server.version !== own) {
    const found = `OpenCode loads ${server.version}, and this command is ${own}`
    const isNewer = server.version.localeCompare(own, "en", { numeric: true }) > 0
    if (server.place !== "package") {
      const command = `use its own command: node ${inShell(join(server.folder ?? "", "dist", "cli.js"))} doctor`
      return warn("version", found, isNewer ? command : `bring ${server.folder} up to date, or ${command}`)
    }
    if (isNewer) return warn("version", found, `use the same version: npx ${OURS}@${server.version} doctor`)
    const files = new Set([server, ...(tui ? [tui] : [])].map(({ file }) => file.path))
    const why = "OpenCode never updates by itself what is listed without a version"
    return warn(
      "version",
      found,
      `list "${OURS}@${own}" in ${[...files].join(" and in ")} (${why}); then start it anew`,
    )
  }
  if (seen !== undefined && seen !== server.version) {
    return warn("version", `${server.version} is listed, and the last session ran ${seen}`, "start OpenCode anew")
  }
  return ok("version", `${own}, ${tui?.version === undefined ? "the plugin's and this command's" : "of all parts"}`)
}

function nameIn({ spec, file }: Listed): string {
  return `${JSON.stringify(spec)} in ${file.path}`
}

/** What switches our panel on or off in a file; undefined where it says nothing of it. */
function switchIn({ value }: ConfigFile): boolean | undefined {
  const enabled = value?.plugin_enabled
  if (typeof enabled !== "object" || enabled === null) return undefined
  const ours = (enabled as Record<string, unknown>)[OURS]
  return typeof ours === "boolean" ? ours : undefined
}

/** The global file whose list counts: of several lists only the last one does. */
function globalFile({ folder, server }: Config): string {
  const global = server.filter(({ path }) => dirname(path) === folder)
  const file = global.filter(({ value }) => value?.plugin !== undefined).at(-1) ?? global.at(-1)
  return file?.path ?? join(folder, "opencode.json")
}

/** A command where it finds the server's half in its place; elsewhere it would list that one twice. */
function addPanel({ folder, tui }: Config, { folder: own, spec, file }: Listed): string {
  const isGlobal = dirname(file.path) === folder
  const entry = own ?? spec
  const beside = isGlobal || file.project === undefined ? folder : dirname(file.path)
  const path = tui.find((one) => dirname(one.path) === beside)?.path ?? join(beside, "tui.json")
  const edit = `add ${JSON.stringify(entry)} to "plugin" in ${path}`
  const isOwn = isGlobal && basename(file.path) === "opencode.json" && entry === spec
  return isOwn ? `opencode plugin ${inShell(entry)} --global; or ${edit}` : edit
}
