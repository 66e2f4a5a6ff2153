import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyDocument, Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { openEngine } from '../../engine.ts'
import { createLog } from '../../log.ts'
import { actions } from '../../store/index.ts'

const MINUTE_MS = 60_000
const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }

/** An action that waits under a rule with these times, and time to pass. */
async function open(times: object) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-extend-'))
  const clock = manualClock()
  let ran = 0
  const execute = () => ++ran
  const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, execute })
  const policy: PolicyDocument = { default: 'deny', rules: [{ name: 'pay', match: { tool: 'pay' }, verdict: 'ask', ...times }] }
  const tools = openTools({ shop: { prefix: false, tools: [pay] } })
  const engine = await openEngine({
    database: { kind: 'sqlite', dataDir: folder },
    agents: [],
    tools,
    policy,
    log: createLog('silent'),
    clock,
  })
  for (const principal of [ana, bot]) await engine.savePrincipal(principal)
  const { id } = await engine.gate.propose({ tool: 'pay', arguments: {} }, { principal: bot })
  return {
    id,
    gate: engine.gate,
    ran: () => ran,
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

test('of many who extend at once, one does it', async () => {
  await using desk = await open({ expires: 'PT10M', extend: 'PT5M' })
  const before = await desk.row()
  await Promise.all(Array.from({ length: 8 }, () => desk.gate.extend(desk.id, { principal: ana })))
  expect((await desk.row()).expires_at).toBe((before.expires_at ?? 0) + 5 * MINUTE_MS)
})
