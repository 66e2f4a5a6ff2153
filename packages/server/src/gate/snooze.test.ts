import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyDocument, Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { openEngine } from '../engine.ts'
import { createLog } from '../log.ts'
import { actions, snoozes } from '../store/index.ts'

const MINUTE_MS = 60_000
const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }

test('an escalation ends every snooze of an action, a reminder does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-snooze-'))
  const clock = manualClock()
  const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, execute: () => 1 })
  const escalate = { after: 'PT30M', roles: ['boss'] }
  const policy: PolicyDocument = {
    default: 'deny',
    rules: [{ name: 'pay', match: { tool: 'pay' }, verdict: 'ask', remind: 'PT10M', escalate }],
  }
  const engine = await openEngine({
    database: { kind: 'sqlite', dataDir: folder },
    agents: [],
    tools: openTools({ shop: { prefix: false, tools: [pay] } }),
    policy,
    log: createLog('silent'),
    clock,
  })
  try {
    for (const principal of [ana, bot]) await engine.savePrincipal(principal)
    const { id } = await engine.gate.propose({ tool: 'pay', arguments: {} }, { principal: bot })
    await engine.gate.snooze(id, { for: 'PT2H' }, { principal: ana })
    const pass = async (ms: number) => {
      const end = clock.nowMs() + ms
      while (clock.nowMs() < end) {
        clock.pass(Math.min(clock.waits[0] ?? ms, end - clock.nowMs()))
        await engine.idle()
      }
    }
    const found = () =>
      engine.store.read(function* () {
        const snooze = yield* snoozes.findSnooze.first({ principal_id: ana.id, action_id: id, now: clock.nowMs() })
        const row = yield* actions.findAction.first({ id })
        return { isSnoozed: snooze !== undefined, isReminded: row?.remind_at === null, isEscalated: row?.escalate_at === null }
      })
    await pass(11 * MINUTE_MS)
    expect(await found()).toEqual({ isSnoozed: true, isReminded: true, isEscalated: false })
    await pass(20 * MINUTE_MS)
    expect(await found()).toEqual({ isSnoozed: false, isReminded: true, isEscalated: true })
  } finally {
    await engine.close()
    await rm(folder, { recursive: true })
  }
})
