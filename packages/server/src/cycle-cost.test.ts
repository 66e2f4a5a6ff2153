import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { assert, DEFAULT_POLICY, type Model, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTestDatabase } from '../../../verification/testing/test-database.ts'
import { openTools } from '../../toolkit/src/open-tools.ts'
import { openEngine } from './engine.ts'
import { createLog } from './log.ts'
import { actions, type Database } from './store/index.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const caller = { principal: ana }
/** Calls the tool, and answers once it has the result, without a pause between words. */
const model: Model = {
  id: 'scripted/ship',
  async *stream({ messages }) {
    const isDone = messages.at(-1)?.role === 'tool'
    if (isDone) yield { type: 'text', delta: 'Done.' }
    else yield { type: 'tool_call', key: '0', name: 'ship', argumentsText: '{}' }
    yield { type: 'finish', reason: isDone ? 'stop' : 'tool_calls' }
  },
}
const ship = defineTool({ name: 'ship', description: 'Ships.', effect: 'write', input: { type: 'object' }, execute: () => 'shipped' })

/** Counts the statements that this process sends to either database, until it is disposed of. */
function countStatements() {
  const sent: string[] = []
  const { prepare } = DatabaseSync.prototype
  const { query } = Client.prototype
  DatabaseSync.prototype.prepare = function (...args) {
    const statement: StatementSync = prepare.apply(this, args)
    for (const name of ['run', 'get', 'all'] as const) {
      const real = statement[name].bind(statement) as (...values: unknown[]) => never
      statement[name] = (...values: unknown[]) => {
        sent.push(String(args[0]))
        return real(...values)
      }
    }
    return statement
  }
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    const [first] = args
    sent.push(typeof first === 'string' ? first : String((first as { text?: string }).text))
    return (query as (...values: unknown[]) => never).apply(this, args)
  } as typeof query
  return {
    sent,
    [Symbol.dispose]() {
      DatabaseSync.prototype.prepare = prepare
      Client.prototype.query = query
    },
  }
}

/** A message, a call that waits, its approval, its execution, an answer: so many times in one session, one after the other. */
async function runCycles(database: Database, cycles: number): Promise<void> {
  const tools = openTools({ shop: { prefix: false, tools: [ship] } })
  const desk = {
    ...{ name: 'desk', model, instructions: '', tools: tools.all(), maxSteps: 20, suggestions: [] },
    ...{ actionsPerStep: 'many' as const, onDecline: 'continue' as const },
  }
  await using engine = Object.assign(
    await openEngine({ database, agents: [desk], tools, policy: DEFAULT_POLICY, log: createLog('silent') }),
    {
      async [Symbol.asyncDispose]() {
        await engine.close()
      },
    },
  )
  await engine.savePrincipal(ana)
  const { id } = await engine.agentLoop.createSession({}, caller)
  for (let cycle = 0; cycle < cycles; cycle++) {
    await engine.agentLoop.postMessage(id, 'ship it', caller)
    await engine.idle()
    const [waiting] = await engine.store.read(() => actions.openActions.all({ session_id: id }))
    assert(waiting, 'the call waits')
    const { state } = await engine.gate.decide(waiting.id, { verdict: 'approve' }, caller)
    expect(state).toBe('approved')
    await engine.idle()
  }
}

/** Statements of a cycle, by what the longer of two runs had more: starting and stopping cost the same in both. */
async function statementsPerCycle(open: () => Promise<Database>, isCounted: (text: string) => boolean): Promise<number> {
  const [few, many] = [5, 25]
  const counts: number[] = []
  for (const cycles of [few, many]) {
    const database = await open()
    using counted = countStatements()
    await runCycles(database, cycles)
    counts.push(counted.sent.filter(isCounted).length)
  }
  const [first = 0, second = 0] = counts
  return (second - first) / (many - few)
}

test('a gated cycle takes no more statements than it does today (sqlite)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-cost-'))
  let made = 0
  const count = await statementsPerCycle(
    async () => ({ kind: 'sqlite', dataDir: join(folder, String(made++)) }),
    // The sealer works between the cycles, as often as it finds time.
    (text) => !/audit_head|"is_final"|^(begin|commit|pragma)/i.test(text),
  )
  await rm(folder, { recursive: true })
  expect(count).toBeGreaterThan(20)
  expect(count).toBeLessThanOrEqual(59)
})

test('a gated cycle takes no more statements than it does today (postgres)', async () => {
  await using databases = new AsyncDisposableStack()
  const count = await statementsPerCycle(
    async () => ({ kind: 'postgres', url: databases.use(await openTestDatabase()).url }),
    // Heartbeats, the sealer and the queue's own polls come with time.
    (text) => !/audit_head|"is_final"|graphile_worker|pg_notify|process|countersign_timeline|^(begin|commit)/i.test(text),
  )
  expect(count).toBeGreaterThan(20)
  expect(count).toBeLessThanOrEqual(41)
})
