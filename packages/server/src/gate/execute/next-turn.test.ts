import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_POLICY, type JsonObject, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { openEngine } from '../../engine.ts'
import { scriptedModel } from '../../models/index.ts'
import { actions } from '../../store/index.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }

test('behind an action that goes back for approval, the next of a full session starts at once', async () => {
  const stock: Record<string, number> = { a: 1, b: 1, c: 1 }
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const shipped: string[] = []
  const ship = defineTool({
    ...{ name: 'ship', description: 'Ships.', effect: 'write', input: { type: 'object', properties: { what: { type: 'string' } } } },
    preview: ({ what }: JsonObject) => [{ field: 'stock', oldValue: stock[String(what)] ?? 0, newValue: 0 }],
    async execute({ what }: JsonObject) {
      if (what === 'a') await mayEnd
      shipped.push(String(what))
      return 'shipped'
    },
  })
  const tools = openTools({ shop: { prefix: false, tools: [ship] } })
  const calls = ['a', 'b', 'c'].map((what) => ({ tool: 'ship', arguments: { what } }))
  let steps = 0
  const model = scriptedModel({ id: 'scripted/ship', reply: () => (steps++ === 0 ? { text: '', calls } : { text: 'Done.', calls: [] }) })
  const agent = {
    ...{ name: 'desk', model, instructions: '', tools: tools.all(), maxSteps: 20, suggestions: [] },
    ...{ actionsPerStep: 'many' as const, onDecline: 'continue' as const },
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-turn-'))
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
  const executions = { perProcess: 128, perSession: 1 }
  const engine = await openEngine({
    database: { kind: 'sqlite', dataDir },
    agents: [agent],
    tools,
    policy: DEFAULT_POLICY,
    log,
    executions,
  })
  await engine.savePrincipal(ana)
  const { id } = await engine.agentLoop.createSession({}, { principal: ana })
  await engine.agentLoop.postMessage(id, 'ship it', { principal: ana })
  await engine.idle()
  const open = await engine.store.read(() => actions.openActions.all({ session_id: id }))
  expect(open).toHaveLength(3)
  for (const one of open) await engine.gate.decide(one.id, { verdict: 'approve' }, { principal: ana })
  stock.b = 2
  end()
  await expect.poll(() => shipped).toEqual(['a', 'c'])
  expect(lines.filter((line) => line.includes('resync.enqueued'))).toEqual([])
  await engine.drain(0)
  await engine.close()
  await rm(dataDir, { recursive: true })
})
