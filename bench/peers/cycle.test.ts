import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Adapter } from './adapter.ts'
import * as countersign from './countersign/adapter.ts'
import { runBlock, runCycle } from './cycles.ts'
import * as floor from './floor/adapter.ts'
import { answerStart, type Call, callsFor, messageFor, resultOf } from './script.ts'

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'peers-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const ADAPTERS: [string, Adapter][] = [
  ['the floor', floor],
  ['Countersign', countersign],
]

test.each(ADAPTERS)('%s makes one effect in a cycle, and runs cycles side by side', async (_name, adapter) => {
  await withFolder(async (folder) => {
    const effects: Call[] = []
    const effect = async (call: Call) => {
      effects.push(call)
      return resultOf(call)
    }
    const system = await adapter.open({ database: 'sqlite', folder, url: '', effect })
    await runCycle(system)
    expect(effects).toHaveLength(1)
    const { cycleMs } = await runBlock(system, 4, 50)
    expect(cycleMs.length).toBeGreaterThanOrEqual(4)
    expect(effects).toHaveLength(1 + cycleMs.length)
    await system.close()
  })
})

test('Countersign runs only the approved one of two calls, and both answers reach the model', async () => {
  await withFolder(async (folder) => {
    const effects: string[] = []
    const effect = async (call: Call) => {
      effects.push(call.orderId)
      return resultOf(call)
    }
    const system = await countersign.open({ database: 'sqlite', folder, url: '', effect })
    const sessionId = await system.start(messageFor('two', 2))
    await system.decide(sessionId, { 'two-1': 'approve', 'two-2': 'decline' })
    expect(await system.finish(sessionId)).toMatch(answerStart(2))
    expect(effects).toEqual(['two-1'])
    await system.close()
  })
})

test('a cycle carries about 1.1 KB of payload', () => {
  const message = messageFor('payload', 1)
  const [call] = callsFor(message)
  if (call === undefined) throw new Error('no call')
  const bytes = message.length + JSON.stringify(call).length + resultOf(call).length + 200
  expect(bytes).toBeGreaterThan(1_050)
  expect(bytes).toBeLessThan(1_200)
})
