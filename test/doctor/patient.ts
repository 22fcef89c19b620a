// A machine for the doctor to examine: its own folder for everything, in perfect order unless a test breaks something.

import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import type { CheckLevel, CheckResult } from "../../src/doctor/result.ts"
import { probeMachine } from "../../src/setup/machine.ts"
import { chooseVariants, variantPackage } from "../../src/setup/packages.ts"
import { statusFolder, writeStatus } from "../../src/status/files.ts"
import type { Status } from "../../src/status/status.ts"
import { cli, linkCommands, type Result } from "../cli/support.ts"
import { sha256 } from "../setup/hub.ts"
import { openAt, opencode, root, temporaryFolder, turnOf } from "../store/support.ts"
import { type Planted, plantSidecar } from "../support/sidecar.ts"
import { statusOf } from "../support/status.ts"

export type Patient = {
  root: string
  /** a repository, and the folder the doctor is started in */
  project: string
  /** OpenCode's global config folder */
  config: string
  /** the plugin's data folder */
  data: string
  env: Record<string, string>
  /** Writes a file below the root and returns its path; anything but a string is written as JSON. */
  write(path: string, content: unknown): string
  doctor(...args: string[]): Promise<Result>
  /** The doctor's JSON with its exit code. */
  examine(...args: string[]): Promise<{ code: number; level: CheckLevel; checks: CheckResult[] }>
  [Symbol.dispose](): void
}

/** `stub` only prints a version, in a fiftieth of the time. */
export type Program = "real" | "stub" | "none"

const AN_HOUR_MS = 3_600_000

/** A machine with nothing but OpenCode. */
export function newPatient(program: Program = "real"): Patient {
  const folder = temporaryFolder()
  const at = (path: string) => join(folder.path, path)
  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), typeof content === "string" ? content : JSON.stringify(content))
    // before the last session
    utimesSync(at(path), new Date(0), new Date(Date.now() - AN_HOUR_MS))
    return at(path)
  }
  for (const name of ["home", "bin", "tmp", "config/opencode", "project/.git"]) mkdirSync(at(name), { recursive: true })
  if (program === "real") linkCommands(at("bin"), { opencode })
  if (program === "stub") writeFileSync(at("bin/opencode"), "#!/bin/sh\necho 1.18.0\n", { mode: 0o755 })
  const env = {
    PATH: at("bin"),
    HOME: at("home"),
    TMPDIR: at("tmp"),
    XDG_CONFIG_HOME: at("config"),
    XDG_DATA_HOME: at("data"),
    XDG_CACHE_HOME: at("cache"),
    XDG_STATE_HOME: at("state"),
    HUDFOLD_DATA: at("data/opencode-hudfold"),
  }
  const doctor = (...args: string[]) => cli(["doctor", "--dir", at("project"), ...args], env)
  return {
    root: folder.path,
    project: at("project"),
    config: at("config/opencode"),
    data: at("data/opencode-hudfold"),
    env,
    write,
    doctor,
    async examine(...args) {
      const { code, stdout, stderr } = await doctor("--json", ...args)
      if (stderr !== "") throw new Error(`the doctor complains: ${stderr}`)
      return { code, ...JSON.parse(stdout) }
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

/** Lists this checkout for the server and the TUI. */
export function list(patient: Patient, options: object = {}): void {
  patient.write("config/opencode/opencode.json", { plugin: [[root, options]] })
  patient.write("config/opencode/tui.json", { plugin: [root] })
}

/** Writes the status of the session in which the plugin's hooks ran last. */
export async function trace(patient: Patient, sessionID: string, changes: Partial<Status> = {}): Promise<void> {
  const status = statusOf({ sessionID, plugin: manifest.version, directory: patient.project, ...changes })
  const speed = { prefill: 900, decode: 60 }
  const writer = { ...status.writer, speed }
  writeStatus(statusFolder(patient.data), { ...status, writer, writtenMs: Date.now(), ...changes })
}

/** Installs an engine, and a model with a matching record. */
export async function plantModel(patient: Patient, path: string): Promise<Planted> {
  const planted = plantSidecar(patient.root, { model: path })
  const { variants } = chooseVariants(await probeMachine(), "off")
  patient.write("data/opencode-hudfold/sidecar/installed.json", {
    ...JSON.parse(readFileSync(planted.engineRecord, "utf8")),
    variants: variants.map(variantPackage),
  })
  const record = JSON.parse(readFileSync(planted.modelRecord, "utf8"))
  patient.write("data/opencode-hudfold/model.json", { ...record, sha256: sha256(readFileSync(path)) })
  return planted
}

/** Complete: listed, seen in OpenCode's last session, with a model and a store. */
export async function soundPatient(
  recorded: { folder: string; session: string },
  model: string,
  program: Program,
): Promise<Patient> {
  const patient = newPatient(program)
  mkdirSync(dirname(patient.data), { recursive: true })
  symlinkSync(recorded.folder, join(patient.root, "data/opencode"))
  list(patient, { digest: { gpu: "off" } })
  await trace(patient, recorded.session)
  await plantModel(patient, model)
  await using opened = await openAt(join(patient.data, "hud.db"))
  opened.store.saveTurn(turnOf())
  return patient
}
