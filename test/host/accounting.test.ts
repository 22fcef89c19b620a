// The live account of a session, with events in the order in which OpenCode 1.18 sends them: which calls are counted, in which
// turn, and at which prices.

import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createEnv } from "../../src/digest/digests.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import { paidUsd } from "../../src/fold/saving.ts"
import {
  type Account,
  addEarlier,
  beginTurn,
  finishTurn,
  newAccount,
  recordReport,
  sessionSaving,
} from "../../src/host/accounting.ts"
import { restoreSession } from "../../src/host/context.ts"
import { createModels } from "../../src/host/models.ts"
import { createSessions } from "../../src/host/sessions.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { readOptions } from "../../src/options.ts"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import { openStore } from "../../src/store/open.ts"
import { tokensOfLength } from "../../src/text/tokens.ts"
import { turnOf, until } from "../store/support.ts"
import { dataOfFile } from "../support/data.ts"
import { MODEL } from "../support/driver.ts"
import { host } from "../support/hosted.ts"
import { madeUpSession } from "../support/made-up.ts"
import { read, SessionBuilder, tool, usage } from "../support/session.ts"
import { load, reported, worked } from "./loaded.ts"

const data = dataOfFile()
const sessions = statusFolder(data)

const chargedAt = (usdPerMillion: number) =>
  ({ read: 0.1, write: 1.25, output: 5, usdPerMillion, lifetimeMs: 300_000 }) as Pricing
const status = (type: string) => ({ status: { type } })

function turnsOf(path: string, id: string) {
  const db = new Database(path, { readonly: true })
  const rows = db.query("select calls, input_cost as cost from turn where session_id = ?").all(id)
  db.close()
  return rows as { calls: number; cost: number }[]
}

/** A call of a million tokens is sent and reported. Message and model have the same id. */
function report(account: Account, id: string, pricing: Pricing, tokens = usage(1e6), foldedTokens = 0): void {
  const sent = { foldedTokens, changed: false, hudTokens: 0, noticeTokens: 0, ratio: 1, nowMs: 1, model: id }
  account.sent = { ...sent, pricing }
  const message = { ...reported("ses_both", id, tokens).info, modelID: id }
  expect(recordReport(account, message, { pricing })).toBe(true)
}

/** A turn of one call. */
function oneCall(account: Account, nowMs: number, id: string, pricing: Pricing): void {
  beginTurn(account, nowMs)
  report(account, id, pricing)
  finishTurn(account, "ses_one", nowMs + 1, pricing)
}

test("the calls that a fork copies are not counted in its first turn", async () => {
  const id = "ses_forked"
  const store = { path: join(data, "forked.db") }
  const hooks = await load({ store })
  await hooks.event("session.created", { sessionID: id })
  for (const copy of ["msg_000001", "msg_000002"]) await hooks.event("message.updated", reported(id, copy, usage(4000)))
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  await hooks.transform(worked(id).fresh())
  await hooks.model(id)
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.event("session.idle", { sessionID: id })
  await hooks.dispose()
  expect(turnsOf(store.path, id)).toEqual([{ calls: 1, cost: 1340 }])
  expect((await readStatus(sessions, id))?.calls).toBe(3)
})

test("a process's first call is priced although OpenCode passes the prices only after its request was prepared", async () => {
  const id = "ses_first"
  const hooks = await load()
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  await hooks.transform(worked(id).fresh())
  await hooks.model(id)
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.dispose()
  expect((await readStatus(sessions, id))?.saved.usd).toBeLessThan(0)
})

test("a call that is announced again after its turn is not counted in the next turn", async () => {
  const id = "ses_late"
  const store = { path: join(data, "late.db") }
  const hooks = await load({ store })
  const session = worked(id)
  await hooks.transform(session.fresh())
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.event("session.idle", { sessionID: id })
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.event("session.idle", { sessionID: id })
  await hooks.dispose()
  expect((await readStatus(sessions, id))?.saved.calls).toBe(1)
  expect(turnsOf(store.path, id)).toEqual([{ calls: 1, cost: 1340 }])
})

test("a turn is stored and the HUD names a number, whatever count a provider reports", async () => {
  const hooks = await load()
  const session = worked("ses_absurd")
  const counts = [1e308, Number.POSITIVE_INFINITY, Number.NaN, -5, "7", null, 1234.5]
  for (const [at, count] of counts.entries()) {
    const absurd = { tokens: { input: count, output: count, cache: { read: count, write: count } } } as never
    await hooks.event("session.status", { sessionID: "ses_absurd", ...status("busy") })
    session.assistant([read(`src/${at}.ts`, "export const a = 1\n".repeat(2000))], absurd)
    const sent = await hooks.transform(session.fresh())
    expect(JSON.stringify(sent.at(-1))).toContain("<hud>")
    expect(JSON.stringify(sent.at(-1))).not.toMatch(/NaN|Infinity|e\+/)
    await hooks.event("message.updated", reported("ses_absurd", `msg_absurd_${at}`, absurd))
    await hooks.event("message.updated", reported("ses_absurd", `msg_plain_${at}`, usage(400)))
    await hooks.event("session.idle", { sessionID: "ses_absurd" })
    await Bun.sleep(2)
  }
  await hooks.dispose()
  expect(hooks.logged).toEqual([])
  expect(turnsOf(join(data, "hud.db"), "ses_absurd").length).toBe(counts.length)
})

test("a call that is announced again after the next one changes nothing", async () => {
  const id = "ses_again"
  const hooks = await load()
  const session = worked(id)
  for (const message of ["msg_next", "msg_newest"]) {
    await hooks.transform(session.fresh())
    await hooks.model(id)
    await hooks.event("message.updated", reported(id, message, usage(900, 4400)))
    session.assistant([read(`src/${message}.ts`)], usage(900, 4400))
    await hooks.transform(session.fresh())
    await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  }
  await hooks.event("message.updated", reported(id, "msg_last", usage(900, 4400)))
  await hooks.dispose()
  expect((await readStatus(sessions, id))?.saved.calls).toBe(3)
})

test("the call after a recall would not have been made without folds, nor would later ones have what it returned", async () => {
  const id = "ses_recalled"
  const savedBy = async (...steps: HostPart[]) => {
    const hooks = await load()
    const session = worked(id)
    const saved: number[] = []
    for (const [at, step] of steps.entries()) {
      session.assistant([step], usage(900, 4400))
      await hooks.transform(session.fresh())
      await hooks.model(id)
      await hooks.event("message.updated", reported(id, `msg_after_${at}`, usage(900, 4400)))
      await until(async () => (await readStatus(sessions, id))?.saved.calls === at + 1)
      saved.push((await readStatus(sessions, id))?.saved.tokens ?? 0)
    }
    await hooks.dispose()
    rmSync(sessions, { recursive: true })
    return saved
  }
  const original = "as it was\n".repeat(400)
  const next = read("src/next.ts")
  const [recall = 0, both = 0] = await savedBy(tool("hud_recall", { steps: "3" }, original), next)
  const [other = 0, plain = 0] = await savedBy(tool("lookup", { steps: "3" }, original), next)
  // the call took 5,300 tokens
  expect(recall).toBe(-5300)
  expect(other).toBeGreaterThan(-1000)
  expect(both - recall - (plain - other)).toBeCloseTo(-tokensOfLength(original.length), -2)
})

test("a store that opens late also has turns of this process, which are not counted twice", () => {
  const account = newAccount()
  // compared by number, not by time, since the clock may have been set back
  oneCall(account, 1_000, "msg_1", chargedAt(1))
  const turn = turnOf({ sessionID: "ses_one", startedAt: 2_000, calls: 2, costWithout: 10, tokens: 5 })
  addEarlier(account.finished, [turn, { ...turn, startedAt: 1_000 }])
  expect(account.finished.map(({ startedAt }) => startedAt)).toEqual([2_000, 1_000])
  expect(sessionSaving(account, chargedAt(1), () => chargedAt(1)).calls).toBe(3)
})

test("reasoning, which OpenCode counts apart from the answer, is paid like it", () => {
  const paid = (output: number, reasoning: number) => {
    const account = newAccount()
    beginTurn(account, 1)
    report(account, "msg_1", chargedAt(1), { tokens: { ...usage(1e6).tokens, output, reasoning } })
    return paidUsd(
      sessionSaving(account, chargedAt(1), () => chargedAt(1)),
      chargedAt(1),
    )
  }
  expect(paid(20_000, 80_000)).toBeCloseTo(1.5)
  expect(paid(20_000, 80_000)).toBe(paid(100_000, 0))
})

test("a call is billed at the prices for its size, as OpenCode does, with the plugin and without", () => {
  const tier = (size: number, input: number) => ({
    ...{ input, output: 6 * input, cache: { read: input / 10, write: 0 } },
    tier: { type: "context", size },
  })
  const cost = (more: object) => ({ input: 1, output: 10, cache: { read: 0.1, write: 0 }, ...more })
  const priceOf = (tokens: number, more: object) => {
    const models = createModels(readOptions({}).options)
    models.note({ id: "large", providerID: "anyone", cost: cost(more) })
    const pricing = models.pricing({ providerID: "anyone", modelID: "large" })
    const account = newAccount()
    beginTurn(account, 1)
    report(
      account,
      "msg_1",
      pricing,
      { tokens: { ...usage(1000, tokens - 1000).tokens, output: 100, reasoning: 0 } },
      tokens,
    )
    const saving = sessionSaving(account, pricing, () => pricing)
    return [paidUsd(saving, pricing), saving.usd].map((usd = 0) => Math.round(usd * 1e6))
  }
  // tokens read, fresh and answered, and as many again that were left out
  const expected = (tokens: number, [input, output]: number[], [inputWithout = 0, outputWithout = 0]: number[]) => {
    const paid = (tokens - 1000) * input! * 0.1 + 1000 * input! + 100 * output!
    const without = (2 * tokens - 1000) * inputWithout * 0.1 + 1000 * inputWithout + 100 * outputWithout
    return [Math.round(paid), Math.round(without - paid)]
  }
  const tiers = [tier(32_000, 2), tier(272_000, 4)]
  expect(priceOf(16_000, { tiers })).toEqual(expected(16_000, [1, 10], [1, 10]))
  expect(priceOf(20_000, { tiers })).toEqual(expected(20_000, [1, 10], [2, 12]))
  expect(priceOf(272_000, { tiers })).toEqual(expected(272_000, [2, 12], [4, 24]))
  expect(priceOf(272_001, { tiers: tiers.toReversed() })).toEqual(expected(272_001, [4, 24], [4, 24]))
  // the older field applies where no tier does
  const { tier: _, ...experimentalOver200K } = tier(0, 3)
  expect(priceOf(150_000, { tiers: [], experimentalOver200K })).toEqual(expected(150_000, [1, 10], [3, 18]))
  expect(priceOf(250_000, { tiers: [tier(272_000, 4)], experimentalOver200K })).toEqual(
    expected(250_000, [3, 18], [4, 24]),
  )
})

test("turns of earlier processes cost what their own models charged", () => {
  const account = newAccount()
  const dear = turnOf({ startedAt: 1, modelID: "dear", calls: 1, cost: 1e6, costWithout: 2e6 })
  const cheap = turnOf({ startedAt: 2, modelID: "cheap", calls: 1, cost: 1e6, costWithout: 1e6 })
  addEarlier(account.finished, [dear, cheap])
  const pricingOf = ({ modelID }: { modelID: string }) => chargedAt(modelID === "dear" ? 15 : 1)
  for (const pricing of [chargedAt(1), chargedAt(3), chargedAt(15)])
    expect(paidUsd(sessionSaving(account, pricing, pricingOf), pricing)).toBeCloseTo(16)
})

test("a turn of an earlier process costs what its model charged, where this process has not called that model", () => {
  const account = newAccount()
  const dear = turnOf({ modelID: "dear", cost: 1e6, costWithout: 2e6, output: 100_000, usd: 15 })
  addEarlier(account.finished, [dear, { ...dear, startedAt: 2, costWithout: 1e6 - 1000, usd: -0.015 }])
  const unknown = (): Pricing => ({ ...chargedAt(0), billing: "tokens" })
  expect(paidUsd(sessionSaving(account, chargedAt(1), unknown), chargedAt(1))).toBeCloseTo(45)
})

test("where OpenCode counts cached tokens as free, the panel has money of its own, and beside OpenCode's sum is a share", async () => {
  const id = "ses_free_reads"
  const store = { path: join(data, "free.db") }
  const hooks = await load({ store })
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  await hooks.model(id, { ...MODEL, cost: { input: 3, output: 15 } })
  await hooks.transform(worked(id).fresh())
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.event("session.idle", { sessionID: id })
  await hooks.dispose()
  const { share = 0, usd = 0, paidUsd = 0, freeReads } = (await readStatus(sessions, id))?.saved ?? {}
  expect([freeReads, usd < 0]).toEqual([true, true])
  expect(usd / (paidUsd + usd)).toBeCloseTo(share)
  const db = new Database(store.path, { readonly: true })
  const { lost, money } = db
    .query("select input_cost - input_cost_without as lost, saved_usd as money from turn")
    .get() as {
    lost: number
    money: number
  }
  db.close()
  expect([lost > 0, money]).toEqual([true, 0])
})

test("an aborted request does not affect a later call that the plugin did not change", async () => {
  const id = "ses_aborted"
  const hooks = await load({ disabledAgents: ["plan"] })
  const session = worked(id)
  await hooks.transform(session.fresh())
  const messages = session.user("plan it first").fresh()
  for (const { info } of messages.slice(-1)) info.agent = "plan"
  await hooks.transform(messages)
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.dispose()
  expect((await readStatus(sessions, id))?.saved.calls).toBe(0)
})

test("after a compaction the context's size comes from the messages, not from the usage reported before it", async () => {
  const id = "ses_compacted"
  const hooks = await load()
  const session = worked(id)
  await hooks.transform(session.fresh())
  await hooks.event("message.updated", reported(id, "msg_full", usage(4400, 150_000)))
  session.compaction()
  session.user("go on").assistant([read("src/login.ts")])
  // OpenCode no longer passes what was summarised
  session.messages.splice(0, 3)
  await hooks.transform(session.fresh())
  await hooks.dispose()
  expect((await readStatus(sessions, id))?.context.tokens).toBeLessThan(1000)
})

test("the context's size is that of what is sent, where the provider reports none", async () => {
  const hooks = await load()
  const session = new SessionBuilder("ses_silent").user("look around")
  for (let call = 0; call < 40; call++) session.assistant([read(`src/${call}.ts`, `value ${call}\n`.repeat(600))])
  let sent = session.fresh()
  for (let count = 2; count <= 41; count++) sent = await hooks.transform(session.fresh().slice(0, count))
  await hooks.dispose()
  const estimate = (messages: unknown) => JSON.stringify(messages).length / 4
  expect(estimate(sent)).toBeLessThan(0.8 * estimate(session.messages))
  const context = (await readStatus(sessions, "ses_silent"))?.context
  expect(context?.estimated).toBe(true)
  expect(context?.tokens).toBeLessThan(1.1 * estimate(sent))
})

test("what OpenCode would have compacted does not count as saved, from a process's first call on", async () => {
  const id = "ses_past_the_limit"
  const hooks = await load()
  const session = new SessionBuilder(id).user("look around")
  for (let call = 0; call < 120; call++) session.assistant([read(`src/${call}.ts`, `value ${call}\n`.repeat(1000))])
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  await hooks.transform(session.fresh())
  await hooks.model(id)
  await hooks.event("message.updated", reported(id, "msg_next", usage(150_000)))
  await hooks.dispose()
  const now = await readStatus(sessions, id)
  expect(now?.folding.savedTokens).toBeGreaterThan(100_000)
  expect(now?.saved.tokens).toBeLessThanOrEqual(0)
})

test("a session that is sent whole for want of folding, and folded again, has lost what was in the cache", async () => {
  const id = "ses_switched"
  const store = { path: join(data, "switched.db") }
  const session = new SessionBuilder(id).user("look around")
  for (let call = 0; call < 120; call++) session.assistant([read(`src/${call}.ts`, `value ${call}\n`.repeat(400))])
  const savedIn = async (message: string, enabled: boolean, tokens: ReturnType<typeof usage>) => {
    const before = (await readStatus(sessions, id))?.saved.usd ?? 0
    const hooks = await load({ store, fold: { enabled } })
    await turn(hooks, id, message, tokens, session)
    await hooks.dispose()
    session.assistant([read("src/again.ts")], { ...tokens, time: { created: Date.now() - 1000 } })
    return ((await readStatus(sessions, id))?.saved.usd ?? 0) - before
  }
  await savedIn("msg_folded", true, usage(0, 0, 60_000))
  const left = (await readStatus(sessions, id))?.folding.savedTokens ?? 0
  expect(left).toBeGreaterThan(20_000)
  // Claude Sonnet's prices: a million tokens cost $3.75 to write and $0.30 to read
  const whole = await savedIn("msg_whole", false, usage(0, 10_000, 50_000 + left))
  expect(whole).toBeCloseTo((-(50_000 + left) * 3.45) / 1e6, 1)
  const again = await savedIn("msg_again", true, usage(0, 10_000, 50_000))
  expect(again).toBeCloseTo((left * 0.3 - 50_000 * 3.45) / 1e6, 1)
})

test("a session deleted while busy leaves nothing behind when it becomes idle", async () => {
  const id = "ses_busy"
  const hooks = await load()
  await hooks.transform(worked(id).fresh())
  await hooks.event("session.deleted", { sessionID: id })
  await hooks.event("session.error", { sessionID: id })
  await hooks.event("session.status", { sessionID: id, ...status("idle") })
  await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
  await hooks.event("session.idle", { sessionID: id })
  await hooks.dispose()
  expect(existsSync(join(sessions, `${id}.status.json`))).toBe(false)
})

test("a session resumed only for a shell command keeps its status", async () => {
  const id = "ses_shell"
  const hooks = await load()
  await hooks.transform(worked(id).fresh())
  await hooks.dispose()
  const again = await load()
  await again.event("session.status", { sessionID: id, ...status("busy") })
  await again.event("session.idle", { sessionID: id })
  await again.dispose()
  expect((await readStatus(sessions, id))?.calls).toBe(2)
})

test("a secret in a file name is not written to disk", async () => {
  const id = "ses_named"
  const secret = `ghp_${"a1B2".repeat(9)}`
  const hooks = await load({ fold: { enabled: false } })
  const session = worked(id)
  session.assistant([read(`keys/${secret}.txt`)], usage(300, 4400))
  await hooks.transform(session.fresh())
  await hooks.dispose()
  const shown = await readStatus(sessions, id)
  expect(shown?.hud.text).toMatch(/^files read: .*\[redacted\]\.txt/m)
  expect(JSON.stringify(shown)).not.toContain(secret)
})

/** One turn of a session: one call of the given usage. */
async function turn(
  hooks: Awaited<ReturnType<typeof load>>,
  id: string,
  message: string,
  tokens = usage(900, 4400),
  session = worked(id),
) {
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  await hooks.model(id)
  await hooks.transform(session.fresh())
  await hooks.event("message.updated", reported(id, message, tokens))
  await hooks.event("session.idle", { sessionID: id })
}

test("turns that begin in the same millisecond are two turns", () => {
  const account = newAccount()
  beginTurn(account, 1_000)
  beginTurn(account, 1_500)
  oneCall(account, 1_500, "msg_1", chargedAt(1))
  oneCall(account, 1_000, "msg_2", chargedAt(1))
  expect(account.finished.map(({ startedAt }) => startedAt)).toEqual([1_000, 1_001])
})

test("what subagents cost and saved is in the session that started them, also in another process", async () => {
  const store = { path: join(data, "family.db") }
  const hooks = await load({ store })
  const task = { description: "look", prompt: "look", subagent_type: "explore" }
  const family = (id: string) => worked(id).assistant([tool("task", task, "Found.", { sessionId: "ses_child" })])
  const session = family("ses_parent")
  await turn(hooks, "ses_parent", "msg_parent")
  await hooks.event("session.created", { sessionID: "ses_child", info: { id: "ses_child", parentID: "ses_parent" } })
  await hooks.event("session.created", { sessionID: "ses_grand", info: { id: "ses_grand", parentID: "ses_child" } })
  await turn(hooks, "ses_child", "msg_child")
  await turn(hooks, "ses_grand", "msg_grand")
  await hooks.dispose()
  const saved = async (id: string) => (await readStatus(sessions, id))?.saved
  const [parent, child, grand] = [await saved("ses_parent"), await saved("ses_child"), await saved("ses_grand")]
  expect(grand).toMatchObject({ calls: 1 })
  expect(child).toMatchObject({ calls: 2, subagentCalls: 1 })
  expect(parent).toMatchObject({ calls: 3, subagentCalls: 2 })
  expect(parent?.paidUsd).toBeCloseTo(3 * (grand?.paidUsd ?? 0))
  // OpenCode says which subagents were started, whatever a compaction has left of the messages that did
  const children: Record<string, string[]> = { ses_parent: ["ses_child"], ses_child: ["ses_grand"] }
  for (const message of ["msg_again", "msg_compacted"]) {
    const again = await load({ store }, children)
    const from = session.messages.length
    rmSync(join(sessions, "ses_parent.status.json"))
    if (message === "msg_compacted") session.compaction()
    await again.transform(session.fresh().slice(message === "msg_compacted" ? from : 0))
    // they are read while the session goes on
    while ((await saved("ses_parent"))?.subagentCalls !== 2) await Bun.sleep(10)
    await again.event("message.updated", reported("ses_parent", message, usage(900, 4400)))
    await again.dispose()
    expect(await saved("ses_parent")).toMatchObject({ subagentCalls: 2 })
  }
  // a fork's messages name its origin's subagents, which are not its own
  for (const message of ["msg_forked", "msg_resumed"]) {
    const fork = await load({ store }, children)
    await turn(fork, "ses_fork", message, usage(900, 4400), family("ses_fork"))
    await fork.dispose()
  }
  expect(await saved("ses_fork")).toMatchObject({ calls: 2 })
  expect(await saved("ses_fork")).not.toHaveProperty("subagentCalls")
})

test("a resumed session does not wait for what its subagents saved, and counts none of it twice", async () => {
  const store = await openStore({ path: join(data, "slow.db"), onWarning: () => {} })
  for (const sessionID of ["ses_top", "ses_below"])
    store.saveTurn(turnOf({ sessionID, calls: 2, costWithout: 10, tokens: 5 }))
  const asked = Promise.withResolvers<void>()
  const published = Promise.withResolvers<void>()
  const slow = {
    ...store,
    turns: (id: string) => (id === "ses_top" ? store.turns(id) : asked.promise.then(() => store.turns(id))),
  }
  const env = createEnv("/home/dev/shop")
  const context = {
    env,
    store: { opening: async () => slow },
    models: createModels(readOptions({}).options),
    publisher: { publish: () => published.resolve() },
    subagents: async (id: string) => (id === "ses_top" ? ["ses_below"] : []),
  }
  const session = createSessions(env).get("ses_top")
  // ended in this process while the store was opening
  const ended = turnOf({ sessionID: "ses_below", startedAt: 100, endedAt: 200, calls: 3 })
  store.saveTurn(ended)
  session.account.subagents.push(ended)
  await restoreSession(context as never, session)
  expect(session.restored).toBe(true)
  expect(session.account.subagents).toHaveLength(1)
  asked.resolve()
  await published.promise
  expect(session.account.subagents).toMatchObject([{ calls: 2, tokens: 5 }, { calls: 3 }])
  await store.close()
})

test("a resumed session's turns keep their cost when another model is called, although prices are known only later", async () => {
  const store = await openStore({ path: join(data, "other.db"), onWarning: () => {} })
  const called = { providerID: "somewhere", modelID: "dear", cost: 1e6, costWithout: 1e6, output: 0 }
  store.saveTurn(turnOf({ sessionID: "ses_other", calls: 1, ...called }))
  const models = createModels(readOptions({}).options)
  const env = createEnv("/home/dev/shop")
  const session = createSessions(env).get("ses_other")
  const subagents = async () => []
  await restoreSession({ env, store: { opening: async () => store }, models, subagents } as never, session)
  models.note({ id: "dear", providerID: "somewhere", cost: { input: 15, output: 75 } })
  models.note({ id: "cheap", providerID: "somewhere", cost: { input: 1, output: 5 } })
  for (const modelID of ["dear", "cheap"]) {
    const pricing = models.pricing({ providerID: "somewhere", modelID })
    expect(paidUsd(sessionSaving(session.account, pricing, models.pricing), pricing)).toBeCloseTo(15)
  }
  await store.close()
})

test("the first call of a process is compared with the last one before it", () => {
  const account = newAccount()
  const pricing = chargedAt(1)
  beginTurn(account, 1)
  const earlier = { tokens: 40_000, nowMs: 1, model: "msg_1", caches: true, leftOut: 0 }
  const cut = { foldedTokens: 30_000, changed: true, hudTokens: 0, noticeTokens: 0, ratio: 1, nowMs: 2, model: "msg_1" }
  account.sent = { ...cut, pricing, earlier }
  recordReport(account, reported("ses_again", "msg_1", usage(8000, 2000)).info, { pricing })
  const { cost, costWithout } = sessionSaving(account, pricing, () => pricing)
  expect([cost, costWithout]).toEqual([8000 + 200, 4000])
})

test("a cut after a restart saves as much as one without, where outputs of its steps were folded before", async () => {
  const calls = 64
  const saved = async (id: string, restarts: boolean) => {
    const asked = { calls, id, compactsAt: Number.POSITIVE_INFINITY }
    const lasted = madeUpSession({ ...asked, startMs: 0 }).messages.at(-1)?.info.time?.created ?? 0
    const { messages } = madeUpSession({ ...asked, startMs: Date.now() - lasted })
    const start = async () => {
      const options = { store: { path: join(data, `${id}.db`) }, deadlineMs: 5000 }
      const started = await host({ options, client: {}, sessionID: id })
      await started.event("session.status", status("busy"))
      return started
    }
    let plugin = await start()
    const folds: number[] = []
    for (const [at, { info }] of messages.entries()) {
      if (info.role !== "assistant") continue
      if (restarts && folds.length === calls - 1) {
        await plugin.event("session.idle", {})
        await plugin.dispose()
        plugin = await start()
      }
      folds.push((await plugin.request(messages.slice(0, at))).folds.size)
      await plugin.event("message.updated", { info })
    }
    await plugin.event("session.idle", {})
    await plugin.dispose()
    return { folds: folds.slice(-2), usd: (await readStatus(sessions, id))?.saved.usd ?? 0 }
  }
  const [usual, restarted] = [await saved("ses_usual", false), await saved("ses_restarted", true)]
  expect(restarted.folds).toEqual(usual.folds)
  const [before = 0, after = 0] = usual.folds
  expect([before > 0, after > before]).toEqual([true, true])
  expect(Math.abs(restarted.usd / usual.usd - 1)).toBeLessThan(0.03)
}, 20_000)

test("a turn that changes the model costs what each of its calls cost", () => {
  const account = newAccount()
  beginTurn(account, 1)
  report(account, "dear", chargedAt(15))
  report(account, "cheap", chargedAt(1))
  const paid = () =>
    [1, 15].map((usd) =>
      paidUsd(
        sessionSaving(account, chargedAt(usd), () => chargedAt(1)),
        chargedAt(usd),
      ),
    )
  for (const usd of paid()) expect(usd).toBeCloseTo(16, 1)
  const stored = finishTurn(account, "ses_both", 2, chargedAt(1))
  for (const usd of paid()) expect(usd).toBeCloseTo(16, 1)
  expect(stored && paidUsd(stored, chargedAt(1))).toBeCloseTo(16, 1)
})

test("calls that are not billed by tokens cost nothing beside those that are, whichever comes last", () => {
  const free = { ...chargedAt(0), billing: "nothing" } as Pricing
  for (const order of [
    ["free", "dear"],
    ["dear", "free"],
  ]) {
    const account = newAccount()
    beginTurn(account, 1)
    for (const id of order) report(account, id, id === "free" ? free : chargedAt(15))
    const paid = () =>
      paidUsd(
        sessionSaving(account, chargedAt(15), () => chargedAt(15)),
        chargedAt(15),
      )
    expect(paid()).toBeCloseTo(15, 1)
    // its terms are those of the model with a price
    expect(account.turn.modelID).toBe("dear")
    finishTurn(account, "ses_free", 2, chargedAt(15))
    expect(paid()).toBeCloseTo(15, 1)
  }
})

test("a call after a compaction is not compared with the cache as it was before it", async () => {
  const id = "ses_compacted"
  const hooks = await load()
  const session = worked(id)
  await hooks.event("session.status", { sessionID: id, ...status("busy") })
  let tokens = 20_000
  for (let n = 0; n < 14; n++) {
    await hooks.transform(session.fresh())
    await hooks.model(id)
    const now = usage(0, n === 0 ? 0 : tokens - 1000, n === 0 ? tokens : 1000)
    await hooks.event("message.updated", reported(id, `msg_${n}`, now))
    session.assistant([read(`src/part-${n}.ts`, `export const a = ${n}\n`.repeat(200))], now)
    tokens += 1000
  }
  const kept = session.messages.length
  session.compaction(session.id(3))
  const sent = await hooks.transform([...session.fresh().slice(kept), ...session.fresh().slice(3, kept)])
  expect(JSON.stringify(sent)).toContain("kept by hudfold as a record")
  const saved = async () => (await readStatus(sessions, id))?.saved
  await until(async () => (await saved())?.calls === 14)
  const before = (await saved())?.share ?? 0
  await hooks.event("message.updated", reported(id, "msg_small", usage(0, 5000, 15_000)))
  await hooks.dispose()
  // the call wrote nearly all of its prompt to the cache, and would have without the plugin
  expect((await saved())?.share).toBeGreaterThan(before - 0.01)
})

test("warns once, when the session and its subagents have cost what the option says", async () => {
  const store = { path: join(data, "dear.db") }
  const cost = 0.0057
  const dear = { store, warn: { sessionCost: 2.5 * cost } }
  const warnings = ({ logged }: { logged: readonly string[] }) => logged.filter((line) => line.includes("has cost"))
  const hooks = await load(dear)
  await turn(hooks, "ses_dear", "msg_1")
  await hooks.event("session.created", { sessionID: "ses_sub", info: { id: "ses_sub", parentID: "ses_dear" } })
  await turn(hooks, "ses_sub", "msg_2")
  expect(warnings(hooks)).toEqual([])
  await turn(hooks, "ses_dear", "msg_3")
  expect(warnings(hooks)).toEqual([
    expect.stringMatching(/session ses_dear has cost \$0\.01\d+; the option warn\.sessionCost is \$0\.01\d+/),
  ])
  await turn(hooks, "ses_dear", "msg_4")
  expect(warnings(hooks)).toHaveLength(1)
  await hooks.dispose()
  const resumed = await load(dear)
  await turn(resumed, "ses_dear", "msg_5")
  expect(warnings(resumed)).toEqual([])
  await resumed.dispose()
})
