import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { openConfig } from '../../config/index.ts'
import { openEngine } from '../../engine.ts'

test('an edit into a call that policy would allow has the risk of what runs, and never a lower one than before', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-risk-'))
  const input = z.object({ to: z.string(), amount: z.number() })
  const pay = defineTool({ name: 'pay', description: 'Pays.', input, effect: 'write', execute: () => 'done' })
  const { tools, policy } = await openConfig(
    {
      tools: { own: { tools: [pay] } },
      policy: {
        rules: [
          { name: 'known', match: { tool: 'own.pay', when: 'args.to == "known"' }, verdict: 'allow' },
          { name: 'others', match: { tool: 'own.pay', when: 'args.to != "known"' }, verdict: 'ask', requires: { quorum: 2 } },
        ],
      },
    },
    { environment: {}, folder: dataDir },
  )
  // As the tools of coding agents assess a call by its arguments.
  Object.assign(tools.byName('own.pay') ?? {}, {
    assess: ({ amount }: { amount: number }) => ({ level: amount > 1_000 ? 'critical' : 'low', reasons: [`moves ${amount}`] }),
  })
  const engine = await openEngine({ database: { kind: 'sqlite', dataDir }, agents: [], tools, policy, log: pino({ level: 'silent' }) })
  for (const principal of [ana, ben]) await engine.savePrincipal(principal)
  const edited = async (from: number, to: number) => {
    const { id, digest } = await engine.gate.propose({ tool: 'own.pay', arguments: { to: 'new', amount: from } }, { principal: ana })
    const decision = { verdict: 'approve', arguments: { to: 'known', amount: to }, revision: 1, digest } as const
    return engine.gate.decide(id, decision, { principal: ben })
  }
  expect(await edited(5, 50_000)).toMatchObject({ state: 'proposed', revision: 2, risk: { level: 'critical', reasons: ['moves 50000'] } })
  expect(await edited(50_000, 5)).toMatchObject({ state: 'proposed', revision: 2, risk: { level: 'critical', reasons: ['moves 50000'] } })
  await engine.drain(0)
  await engine.close()
  await rm(dataDir, { recursive: true })
})
