import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Principal } from '@countersign/core'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openConfig } from '../config/index.ts'
import { openEngine } from '../engine.ts'
import { defineTool } from '../tools/index.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['admin'] }

for (const { idempotent, state } of [
  { idempotent: false, state: 'outcome_unknown' },
  { idempotent: true, state: 'failed' },
]) {
  test(`a tool that ignores its timeout ends as ${state}, not executing for good (idempotent: ${idempotent})`, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'countersign-execute-'))
    let calls = 0
    const stuck = defineTool({
      name: 'stuck',
      description: 'Never answers',
      input: z.object({}),
      effect: 'write',
      idempotent,
      timeoutMs: 20,
      execute: () => {
        calls++
        return new Promise<null>(() => {})
      },
    })
    const { tools, policy } = await openConfig({ tools: { own: { tools: [stuck] } } }, { environment: {}, folder: dataDir })
    const engine = await openEngine({ dataDir, agents: [], tools, policy, log: pino({ level: 'silent' }) })
    await engine.savePrincipal(ana)
    const { id } = await engine.gate.propose({ tool: 'own.stuck', arguments: {} }, { principal: ana })
    const settled = new Promise<void>((resolve) => {
      engine.hub.onAny(({ event }) => {
        if (event.type === 'action_update' && event.data.state === state) resolve()
      })
    })
    await engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
    await settled
    const action = await engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
    expect(action).toMatchObject({ state, attempt: 1, error: { kind: 'ambiguous', message: 'own.stuck did not answer within 0.02 s' } })
    expect(calls).toBe(1)
    await engine.close()
    await rm(dataDir, { recursive: true })
  })
}
