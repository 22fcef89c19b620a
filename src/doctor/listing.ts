// Whether OpenCode's config can be read and lists the plugin and its panel once each, in the same version, and whether
// OpenCode has actually loaded the plugin.

import { basename, dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { readOptions } from "../options.ts"
import { isDisabledFor } from "../request/request.ts"
import { readPanelRows } from "../status/words.ts"
import { type Environment, isInside } from "../system/data-folder.ts"
import { asRecord, isOlder } from "../system/values.ts"
import { ago, inShell } from "../text/format.ts"
import { type Config, type ConfigFile, isOn } from "./config-files.ts"
import { isOurs, type ListedPlugin, listedIn, mergedFiles, PACKAGE, specOf, withoutDuplicates } from "./plugin-list.ts"
import { type CheckResult, fail, moveCommand, ok, warn } from "./result.ts"
import type { SessionFacts } from "./store.ts"

export type Listing = Awaited<ReturnType<typeof readListing>>

/** `isV2`: of OpenCode 2, whose terminal loads the panel of what its server loads, and whose server outlives it. */
export async function readListing(config: Config, env: Environment, home: string, isV2 = false) {
  const [listed, tui, ownSpec] = await Promise.all([
    listedIn(isV2 ? config.server : mergedFiles(config), env, home, isV2),
    isV2 ? [] : listedIn(config.tui, env, home),
    specOf(fileURLToPath(import.meta.url)),
  ])
  /** every plugin OpenCode would load in the server, ours and others */
  const server = withoutDuplicates(listed)
  /** ours in the server */
  const ours = server.filter(isOurs)
  /** the one of them that counts, with its options */
  const entry = ours.at(-1)
  /** our entry in the TUI that counts */
  const panel = withoutDuplicates(tui).findLast(isOurs)
  /** our entries in the server before OpenCode removes duplicates */
  const written = listed.filter(isOurs)
  /** the options in effect, and what is wrong with those given; the defaults if none are */
  const { options, problems } = readOptions(entry?.options)
  const restart = isV2 ? "run opencode service restart" : "restart OpenCode"
  return { server, ours, entry, panel, written, ownSpec, options, problems, isV2, restart }
}

export function checkConfig(config: Config): CheckResult[] {
  const files = [...config.server, ...config.tui]
  const broken = files.flatMap((file) => {
    const { path, problem } = file
    if (problem === undefined) return []
    const isServer = config.server.includes(file)
    const where = isServer ? "`opencode debug config` says where; " : ""
    const fix = /JSON|"plugin"/.test(problem)
      ? `correct it; ${where}comments and trailing commas are fine`
      : `fix that, or move the file away: ${moveCommand(path)}`
    return isServer
      ? fail("config", `${path} ${problem}, and OpenCode does not start with it`, fix)
      : warn("config", `${path} ${problem}, and OpenCode ignores it`, fix)
  })
  if (broken.length > 0) return broken
  if (files.length === 0) return [ok("config", `OpenCode has no config file yet; its folder is ${config.folder}`)]
  return [ok("config", `readable: ${files.map(({ path }) => path).join(", ")}`)]
}

/** Undefined if a file that cannot be read may list it, which `checkConfig` reports. */
export function checkListed(config: Config, listing: Listing, env: Environment): CheckResult | undefined {
  const { server, ours, entry, written, ownSpec, isV2, restart } = listing
  if (isOn(env.OPENCODE_PURE))
    return fail("plugin", "OPENCODE_PURE is set, so OpenCode loads no plugin at all", "unset OPENCODE_PURE")
  if (!entry && config.server.some(({ problem }) => problem)) return undefined
  // a path to nothing may have led to this plugin, whatever its name
  const candidates = entry ? ours : server.filter(({ place }) => place === "nothing")
  const lost = candidates.map((one) => whyNotFound(one, listing)).find((why) => why !== undefined)
  if (lost) return fail("plugin", ...lost)
  if (!entry) {
    const found = "OpenCode's config does not list it for this folder"
    const edit = `add ${JSON.stringify(ownSpec)} to "plugin" in ${globalFile(config)}`
    if (isV2) return fail("plugin", found, `${edit}, then ${restart}`)
    const install = `opencode plugin ${inShell(ownSpec)} (with --global for all projects), then ${restart}`
    return fail("plugin", found, `${install}; or ${edit} and in tui.json beside it`)
  }
  const copy = config.pluginFiles.find((path) => basename(path).includes("hudfold"))
  if (copy) {
    const found = `${nameIn(entry)}, and OpenCode loads ${copy} too, since it loads every file there`
    return warn("plugin", found, `keep one of them: move ${copy} away, or remove the entry`)
  }
  const files = [...new Set(written.map(({ file }) => file.path))]
  // a project may list the plugin once more, with options of its own
  if (ours.length > 1 || files.length < written.length) {
    const what = ours.length > 1 ? "OpenCode loads each entry" : "only the last entry and its options count"
    const entries = written.map((one) => [one.version, nameIn(one)].filter(Boolean).join(" as "))
    const found = `listed ${written.length} times (${entries.join("; ")}), and ${what}`
    return warn("plugin", found, `keep one of them, preferably the last one in ${entry.file.path}`)
  }
  const others = files.slice(0, -1).join(" and ")
  return ok("plugin", others ? `${nameIn(entry)}, which counts in place of the entry in ${others}` : nameIn(entry))
}

export function checkPanel(config: Config, listing: Listing): CheckResult | undefined {
  const { entry, panel, isV2 } = listing
  // installing the plugin installs the panel too
  if (!entry || isV2) return undefined
  if (!panel && config.tui.some(({ problem }) => problem)) return undefined
  if (!panel) {
    const found = "no tui.json lists the plugin, so there is no panel and none of its commands"
    return warn("panel", found, `${addPanel(config, entry)}, then restart OpenCode`)
  }
  const decides = [...config.tui, config.switched].findLast((file) => file && switchIn(file) !== undefined)
  if (decides && switchIn(decides) === false) {
    const fix =
      decides === config.switched
        ? `in OpenCode's command palette choose "Plugins" and switch ${PACKAGE} on`
        : `remove "${PACKAGE}" from "plugin_enabled" in ${decides.path}`
    return warn("panel", `${nameIn(panel)}, but switched off in ${decides.path}`, fix)
  }
  const lost = whyNotFound(panel, listing)
  if (lost) return warn("panel", ...lost)
  if (panel.place === "file" && panel.path === entry.path) {
    const fix = `list the folder there instead, ${JSON.stringify(panel.folder)}; OpenCode finds the right file in it`
    return warn("panel", `${nameIn(panel)} is the server plugin, which has no panel`, fix)
  }
  if (panel.spec.startsWith(`${PACKAGE}@file:`)) {
    const fix = "unpack the tarball and list the folder in both files, then restart OpenCode"
    return warn("panel", `${nameIn(panel)}, and OpenCode loads no panel from a tarball`, fix)
  }
  const { problem } = readPanelRows(panel.options)
  if (problem !== undefined) return warn("panel", problem, `correct the panel's options in ${panel.file.path}`)
  return ok("panel", nameIn(panel))
}

/** Undefined if there is nothing to compare. `own` is the version of this command, `seen` that of the last session. */
export function checkVersions(listing: Listing, own: string, seen: string | undefined) {
  const { ours, entry: server, panel, restart } = listing
  // several entries are reported by `checkListed`
  if (!server || server.place === "nothing" || ours.length > 1) return undefined
  if (isUnfetched(server)) {
    const found = `OpenCode has not fetched ${nameIn(server)}, so nothing of it is loaded`
    const why = "if it is still missing then, run `opencode serve --print-logs` and look for the failed download"
    return warn("version", found, `restart OpenCode with a connection to npm's registry; ${why}`)
  }
  if (server.version === undefined) return ok("version", `this command is ${own}; that of OpenCode is not known`)
  if (panel?.version !== undefined && panel.version !== server.version) {
    const found = `the plugin is ${server.version} (${server.file.path}), its panel ${panel.version} (${panel.file.path})`
    return warn("version", found, "list the same folder or version in both files, then restart OpenCode")
  }
  if (server.version !== own) {
    const { folder = "", version, spec } = server
    const isPackage = server.place === "package"
    const command = isPackage ? `npx ${PACKAGE}@${version}` : `node ${inShell(join(folder, "dist", "cli.js"))}`
    const same = `use the same version: ${command} doctor`
    const update = isPackage
      ? `list "${PACKAGE}@${own}" in place of ${JSON.stringify(spec)}, since OpenCode never updates a plugin by itself`
      : `update ${folder}`
    const found = `OpenCode loads ${version}, and this command is ${own}`
    return warn("version", found, isOlder(own, version) ? same : `${update}; then ${restart}; or ${same}`)
  }
  if (seen !== undefined && seen !== server.version)
    return warn("version", `${server.version} is listed, and the last session ran ${seen}`, restart)
  return ok("version", `${own}, ${panel?.version === undefined ? "the plugin and this command" : "all parts"}`)
}

/** What is wrong where an entry leads, and the fix; undefined if OpenCode finds a plugin there. */
function whyNotFound(one: ListedPlugin, { ownSpec: own, isV2 }: Listing): [found: string, fix: string] | undefined {
  const { place, path, folder = own, file } = one
  const because = (why: string, fix: string): [string, string] => [`${nameIn(one)}, and ${why}`, fix]
  const instead = `list ${JSON.stringify(folder)} instead`
  if (place === "nothing")
    return because(`there is nothing at ${path}`, `correct the path in ${file.path}, or list ${JSON.stringify(own)}`)
  if (place === "file" && isV2) return because("OpenCode 2 loads no single files", instead)
  return place === "folder" && path !== folder ? because("OpenCode finds no plugin in that folder", instead) : undefined
}

function nameIn({ spec, file }: ListedPlugin): string {
  return `${JSON.stringify(spec)} in ${file.path}`
}

/** Only where the cache's folder follows from the spec: a name, with or without a version. */
function isUnfetched({ place, version, spec }: ListedPlugin): boolean {
  return place === "package" && version === undefined && /^(?:@[^/]+\/)?[^@/:]+(?:@[^/:]+)?$/.test(spec)
}

/** Whether a file switches our panel on or off; undefined if it does neither. */
function switchIn({ value }: ConfigFile): boolean | undefined {
  const ours = asRecord(value?.plugin_enabled)?.[PACKAGE]
  return typeof ours === "boolean" ? ours : undefined
}

/** The global file whose list counts, which is the last one with a list. */
function globalFile({ folder, server }: Config): string {
  const global = server.filter(({ path }) => dirname(path) === folder)
  const file = global.findLast(({ value }) => value?.plugin !== undefined) ?? global.at(-1)
  return file?.path ?? join(folder, "opencode.json")
}

/** `opencode plugin` is suggested only if it finds the server's entry as it writes it; otherwise it would list that twice. */
function addPanel({ folder, tui }: Config, { folder: own, spec, file }: ListedPlugin): string {
  const isGlobal = dirname(file.path) === folder
  const entry = own ?? spec
  const beside = isGlobal || file.project === undefined ? folder : dirname(file.path)
  const path = tui.find((one) => dirname(one.path) === beside)?.path ?? join(beside, "tui.json")
  const edit = `add ${JSON.stringify(entry)} to "plugin" in ${path}`
  const isOwn = isGlobal && basename(file.path) === "opencode.json" && entry === spec
  return isOwn ? `opencode plugin ${inShell(entry)} --global; or ${edit}` : edit
}

/**
 * A session in which the plugin's hooks ran has a status file. OpenCode reports nothing about a plugin it could not load, so
 * a missing file is the only sign of that.
 */
export type LoadEvidence = {
  listing: Pick<Listing, "entry" | "options" | "restart">
  /** of all sessions that have one, the one written last first */
  statuses: readonly { sessionID: string; writtenMs: number }[]
  /** OpenCode's newest sessions in which a model was called, newest first; undefined if its database cannot be read */
  sessions: readonly SessionFacts[] | undefined
  nowMs: number
}

export function checkLoaded({ listing, statuses, sessions, nowMs }: LoadEvidence): CheckResult | undefined {
  const { entry: listed, options, restart } = listing
  if (!listed || !options.enabled) return undefined
  if (!options.store.enabled) return ok("loaded", "unknown: with store.enabled false a session leaves no trace")
  const { project, changedMs, path } = listed.file
  const last = sessions?.find(
    ({ directory, agent }) => (project === undefined || isInside(directory, project)) && !isDisabledFor(agent, options),
  )
  const trace = last ? statuses.find(({ sessionID }) => sessionID === last.id) : statuses[0]
  const again = `${restart} and send it a message`
  if (trace) {
    const where = last ? ` in ${last.directory}` : ""
    const ran = `its hooks ran in session ${trace.sessionID}${where} (${ago(nowMs - trace.writtenMs)})`
    if (trace.writtenMs >= changedMs) return ok("loaded", ran)
    return warn("loaded", `${ran}, but not since ${path} was changed (${ago(nowMs - changedMs)})`, again)
  }
  // what is missing or was never fetched cannot be loaded, and is reported already
  if (listed.place === "nothing" || isUnfetched(listed)) return undefined
  if (!last || last.lastCallMs < changedMs)
    return warn("loaded", "listed, but no session has called a model since", again)
  // OpenCode shows it nowhere, not even with --print-logs [seen on 1.18.33]
  const { href } = pathToFileURL(join(listed.folder ?? "/path/to/opencode-hudfold", "dist", "plugin.js"))
  const look = `node -e ${inShell(`import(${JSON.stringify(href)})`)} prints why it cannot be loaded`
  const found = `listed, but the last session (${last.id}, ${ago(nowMs - last.lastCallMs)}) left no trace of it`
  return warn("loaded", found, `${restart}; if that does not help, ${look}`)
}
