import { DEFAULT_POLICY, type Model, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { type Engine, openEngine } from '../engine.ts'
import { createLog } from '../log.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const caller = { principal: ana }
const ship = defineTool({ name: 'ship', description: 'Ships.', effect: 'write', input: { type: 'object' }, execute: () => 'shipped' })
const tools = openTools({ shop: { prefix: false, tools: [ship] } })

/** A model that answers every call when it is told to, whether or not anybody waits for the answer still. */
function slowModel() {
  const calls: { by: string; answer: () => void }[] = []
  const of = (by: string): Model => ({
    id: 'scripted/ship',
    async *stream() {
      const { promise, resolve } = Promise.withResolvers<void>()
      calls.push({ by, answer: resolve })
      await promise
      yield { type: 'tool_call', key: '0', name: 'ship', argumentsText: '{}' }
      yield { type: 'finish', reason: 'tool_calls' }
    },
  })
  return { calls, of }
}

async function openProcess(url: string, model: Model): Promise<Engine> {
  const desk = {
    ...{ name: 'desk', model, instructions: '', tools: tools.all(), maxSteps: 20, suggestions: [] },
    ...{ actionsPerStep: 'many' as const, onDecline: 'continue' as const },
  }
  const options = { agents: [desk], tools, policy: DEFAULT_POLICY, log: createLog('silent') }
  // With one slot, a process that makes a step fetches no other.
  const engine = await openEngine({ ...options, database: { kind: 'postgres', url }, modelCalls: 1 })
  onTestFinished(() => engine.close())
  return engine
}

for (const order of [[0, 1], [1, 0], 'together'] as const) {
  test(`of a step that two processes asked the model about, one result is stored (answers: ${order})`, async () => {
    const { url, ...database } = await openTestDatabase()
    onTestFinished(() => database[Symbol.asyncDispose]())
    const psql = new Client({ connectionString: url })
    await psql.connect()
    onTestFinished(() => psql.end())
    const { calls, of } = slowModel()
    const first = await openProcess(url, of('first'))
    const second = await openProcess(url, of('second'))
    // Before its pools have their ids, a process leaves its own work to whoever fetches it.
    const ready = async () => (await psql.query(`select 1 from process where pools like '%"commit-%'`)).rows
    await expect.poll(ready).toHaveLength(2)
    await first.savePrincipal(ana)
    await first.agentLoop.beginSession({ content: 'ship it' }, caller)
    await expect.poll(() => calls.map(({ by }) => by)).toEqual(['first'])
    // Another process takes over the step. The first one does not learn of it.
    await psql.query(`with given as (update run set runner = null, claimed = null returning session_id)
      select countersign_quiet.add_jobs(json_agg(json_build_object('identifier', 'advance', 'payload', json_build_object('id', session_id)))) from given`)
    await second.agentLoop.createSession({}, caller)
    await expect.poll(() => calls.map(({ by }) => by)).toEqual(['first', 'second'])
    const stored = async () => {
      const { rows } = await psql.query(`select (select count(*)::int from action) as actions, (select max(steps)::int from run) as steps,
        (select count(*)::int from message where role = 'assistant' and in_history = 1) as answers,
        (select count(*)::int from model_call) as calls,
        (select count(*)::int from audit where kind = 'proposed') as recorded`)
      return rows[0]
    }
    const ONE = { actions: 1, steps: 1, answers: 1, calls: 1, recorded: 1 }
    if (order === 'together') for (const { answer } of calls) answer()
    else {
      calls[order[0]]?.answer()
      await expect.poll(stored).toEqual(ONE)
      calls[order[1]]?.answer()
    }
    await Promise.all([first.idle(), second.idle()])
    expect(await stored()).toEqual(ONE)
    expect(calls).toHaveLength(2)
  })
}
