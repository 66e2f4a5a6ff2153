import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyDocument, Principal } from '@countersign/core'
import { defineTool, type ToolDefinition } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { agentsOnDecline } from '../../../../../verification/testing/agents-on-decline.ts'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { ben } from '../../../../../verification/testing/open-gate.ts'
import { shortWaits } from '../../../../../verification/testing/short-waits.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { type Engine, openEngine } from '../../engine.ts'
import { createLog } from '../../log.ts'
import { scriptedModel } from '../../models/index.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { actions } from '../../store/index.ts'

const MINUTE_MS = 60_000
const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }

/** Calls `pay` once for each message of a person. */
const model = scriptedModel({
  id: 'scripted/pay',
  reply: ({ messages: said }) => (said.at(-1)?.role === 'user' ? { text: '', calls: [{ tool: 'pay', arguments: {} }] } : { text: 'Done.' }),
})

async function proposeInSession({ agentLoop, idle, store }: Engine): Promise<string> {
  const { id: session_id } = await agentLoop.createSession({}, { principal: ana })
  await agentLoop.postMessage(session_id, 'go', { principal: ana })
  await idle()
  const [open] = await store.read(() => actions.openActions.all({ session_id }))
  return open?.id ?? expect.fail('it waits')
}

/** An action that waits under a rule with these times, and time to pass. */
async function open(
  times: object,
  place: 'in a session' | 'outside' = 'outside',
  { preview, expiresIn }: Pick<ToolDefinition<object>, 'preview'> & { expiresIn?: string } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-extend-'))
  const clock = manualClock()
  let ran = 0
  const execute = () => ++ran
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    effect: 'write',
    input: { type: 'object' },
    execute,
    ...(preview && { preview }),
  })
  const policy: PolicyDocument = { default: 'deny', rules: [{ name: 'pay', match: { tool: 'pay' }, verdict: 'ask', ...times }] }
  const tools = openTools({ shop: { prefix: false, tools: [pay] } })
  const engine = await openEngine({
    database: { kind: 'sqlite', dataDir: folder },
    agents: agentsOnDecline(model, tools.all()),
    tools,
    policy,
    log: createLog('silent'),
    clock,
  })
  for (const principal of [ana, bot]) await engine.savePrincipal(principal)
  const proposeOutside = async () =>
    (await engine.gate.propose({ tool: 'pay', arguments: {}, ...(expiresIn && { expiresIn }) }, { principal: bot })).id
  const id = place === 'outside' ? await proposeOutside() : await proposeInSession(engine)
  return {
    id,
    gate: engine.gate,
    ran: () => ran,
    idle: engine.idle,
    row: async () => (await engine.store.read(() => actions.findAction.first({ id }))) ?? expect.fail('it is there'),
    async pass(ms: number) {
      const end = clock.nowMs() + ms
      while (clock.nowMs() < end) {
        clock.pass(Math.min(clock.waits[0] ?? ms, end - clock.nowMs()))
        await engine.idle()
      }
    },
    /** Time that passes while this process does nothing. */
    sleep: (ms: number) => clock.set(clock.nowMs() + ms),
    async [Symbol.asyncDispose]() {
      await engine.close()
      await rm(folder, { recursive: true })
    },
  }
}

test('an extended action expires at its new deadline and not at the one before; the reminder still comes at its time', async () => {
  await using desk = await open({ expires: 'PT10M', extend: 'PT5M', remind: 'PT12M' })
  await desk.pass(9 * MINUTE_MS)
  await desk.gate.extend(desk.id, { principal: ana })
  await desk.pass(2 * MINUTE_MS)
  expect(await desk.row()).toMatchObject({ state: 'proposed' })
  await desk.pass(2 * MINUTE_MS)
  expect(await desk.row()).toMatchObject({ state: 'proposed', remind_at: null })
  await desk.pass(2 * MINUTE_MS)
  expect((await desk.row()).state).toBe('expired')
  expect(desk.ran()).toBe(0)
})

test('an expired action is never extended, also where nothing has noticed yet that its deadline passed', async () => {
  await using late = await open({ expires: 'PT10M', extend: 'PT5M' })
  await late.pass(10 * MINUTE_MS)
  await expect(late.gate.extend(late.id, { principal: ana })).rejects.toMatchObject({ code: 'illegal_transition' })
  await using unnoticed = await open({ expires: 'PT10M', extend: 'PT5M' })
  unnoticed.sleep(11 * MINUTE_MS)
  await expect(unnoticed.gate.extend(unnoticed.id, { principal: ana })).rejects.toThrow(/has expired/)
  expect(await unnoticed.row()).toMatchObject({ state: 'expired', extended: null })
})

test('a call that goes back for approval has each time as long as its proposer gave it, whatever was extended or changed while it waited', async () => {
  let balance = 0
  const preview = async () => [{ field: 'balance', oldValue: balance, newValue: 0 }]
  await using desk = await open({ extend: 'PT5M' }, 'outside', { preview, expiresIn: 'PT10M' })
  async function approveTooLate() {
    balance++
    const { revision, digest } = await desk.row()
    await desk.gate.decide(desk.id, { verdict: 'approve', revision, digest }, { principal: ana })
    await desk.idle()
    const row = await desk.row()
    expect(row).toMatchObject({ state: 'proposed', revision: revision + 1 })
    return ((row.expires_at ?? 0) - row.updated_at) / MINUTE_MS
  }
  await desk.pass(9 * MINUTE_MS)
  await desk.gate.extend(desk.id, { principal: ana })
  await desk.pass(5 * MINUTE_MS)
  expect(await approveTooLate()).toBe(10)
  await desk.pass(5 * MINUTE_MS)
  balance++
  await desk.gate.refresh(desk.id, { principal: ana })
  await desk.pass(4 * MINUTE_MS)
  expect(await approveTooLate()).toBe(10)
  expect(desk.ran()).toBe(0)
})

test('of many who extend at once, one does it', async () => {
  await using desk = await open({ expires: 'PT10M', extend: 'PT5M' })
  const before = await desk.row()
  await Promise.all(Array.from({ length: 8 }, () => desk.gate.extend(desk.id, { principal: ana })))
  expect((await desk.row()).expires_at).toBe((before.expires_at ?? 0) + 5 * MINUTE_MS)
})

for (const place of ['in a session', 'outside'] as const) {
  test(`an edit after an extension keeps the new deadline, ${place}`, async () => {
    await using desk = await open({ expires: 'PT10M', extend: 'PT5M', requires: { quorum: 2 } }, place)
    const { expiresAt, digest } = await desk.gate.extend(desk.id, { principal: ana })
    const edit = { verdict: 'approve', revision: 1, digest, arguments: { amount: 1 } } as const
    expect(await desk.gate.decide(desk.id, edit, { principal: ana })).toMatchObject({ state: 'proposed', revision: 2, expiresAt })
    await desk.pass(11 * MINUTE_MS)
    expect((await desk.row()).state).toBe('proposed')
  })

  test(`a decision after an extension answers with the new deadline, ${place}`, async () => {
    await using desk = await open({ expires: 'PT10M', extend: 'PT5M' }, place)
    const { expiresAt, extension } = await desk.gate.extend(desk.id, { principal: ana })
    expect(await desk.gate.decide(desk.id, { verdict: 'approve' }, { principal: ana })).toMatchObject({ expiresAt, extension })
  })
}

const rules = [{ name: 'pay', match: { tool: 'own.pay' }, verdict: 'ask' as const, expires: 'PT10M', extend: 'PT5M' }]

for (const { database, open: openStore } of STORES) {
  test(`${database}: an extension while an edit or a refresh reads the target is not undone by it`, async () => {
    await using temp = await openStore()
    await savePersons(temp.store)
    let whileItReads = async () => {}
    let balance = 1
    const preview = async () => {
      await whileItReads()
      return [{ field: 'balance', oldValue: balance }]
    }
    const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, preview, execute: () => null })
    const policies = fixedPolicies(compilePolicy({ default: 'deny', rules }, 1))
    // A slow machine takes as long as it needs to read the target, for which a gate gives it five seconds.
    const gate = openBareGate(temp.store, [pay], 'prc_1', { policies, ...shortWaits(5_000) })
    for (const change of ['edit', 'refresh']) {
      const { id, digest, expiresAt } = await gate.propose({ tool: 'own.pay', arguments: { change } }, { principal: ana })
      whileItReads = async () => void (await gate.extend(id, { principal: ana }))
      balance++
      const edit = { verdict: 'approve', revision: 1, digest, arguments: { amount: 1 } } as const
      const changed = change === 'edit' ? gate.decide(id, edit, { principal: ben }) : gate.refresh(id, { principal: ben })
      const until = Date.parse(expiresAt ?? '') + 5 * MINUTE_MS
      expect(await changed, change).toMatchObject({ revision: 2, expiresAt: new Date(until).toISOString() })
      expect((await rowOf(temp.store, id)).expires_at, change).toBe(until)
      whileItReads = async () => {}
    }
  })
}
