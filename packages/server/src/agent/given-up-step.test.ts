import { DEFAULT_POLICY, type Model, type Principal, ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { type Engine, openEngine } from '../engine.ts'
import { createLog } from '../log.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const caller = { principal: ana }

/** A disk that is full for what models say. */
const FULL_DISK = `
  create function no_room() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$;
  create trigger full_disk before insert on message for each row when (new.role = 'assistant') execute function no_room()`

/** A tool that is refused at first, and then takes as long as the test lets it. */
function openShop() {
  const again = { isRunning: false, answer: Promise.withResolvers<string>() }
  let attempts = 0
  const ship = defineTool({
    ...{ name: 'ship', description: 'Ships.', effect: 'write', input: { type: 'object' } },
    execute() {
      if (++attempts === 1) throw new ToolError('refused', 'no ship today')
      again.isRunning = true
      return again.answer.promise
    },
  })
  return { tools: openTools({ shop: { prefix: false, tools: [ship] } }), again }
}

/** A model that ships, and says so. Its first two answers come when they are called for. */
function slowModel() {
  const calls: (() => void)[] = []
  const model: Model = {
    id: 'scripted/ship',
    async *stream({ messages }) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const hasShipped = messages.some(({ role }) => role === 'tool')
      calls.push(resolve)
      if (calls.length <= 2) await promise
      if (hasShipped) yield { type: 'text', delta: 'Well.' }
      else yield { type: 'tool_call', key: '0', name: 'ship', argumentsText: '{}' }
      yield { type: 'finish', reason: hasShipped ? 'stop' : 'tool_calls' }
    },
  }
  return { calls, model }
}

test('a model call that could not be stored, and must wait for an action by then, is made by any process afterwards', async () => {
  const { url, ...database } = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const psql = new Client({ connectionString: url })
  await psql.connect()
  onTestFinished(() => psql.end())
  const { tools, again } = openShop()
  const { calls, model } = slowModel()
  const desk = {
    ...{ name: 'desk', model, instructions: '', tools: tools.all(), maxSteps: 20, suggestions: [] },
    ...{ actionsPerStep: 'many' as const, onDecline: 'continue' as const },
  }
  async function openProcess(): Promise<Engine> {
    const options = { agents: [desk], tools, policy: DEFAULT_POLICY, log: createLog('silent') }
    const engine = await openEngine({ ...options, database: { kind: 'postgres', url } })
    onTestFinished(() => engine.close())
    return engine
  }
  const runner = async () => (await psql.query('select runner, state from run')).rows[0]
  const first = await openProcess()
  await first.savePrincipal(ana)
  await first.agentLoop.beginSession({ content: 'ship it' }, caller)
  await expect.poll(() => calls.length).toBe(1)
  calls[0]?.()
  const waiting = async () => (await psql.query('select id, state from action')).rows[0]
  await expect.poll(waiting).toMatchObject({ state: 'proposed' })
  const { id } = await waiting()
  await first.gate.decide(id, { verdict: 'approve' }, caller)
  await expect.poll(() => calls.length).toBe(2)

  // The action that failed is tried again while the model is asked; what the model says then cannot be stored.
  const second = await openProcess()
  await second.gate.retry(id, caller)
  await expect.poll(() => again.isRunning).toBe(true)
  await psql.query(FULL_DISK)
  calls[1]?.()
  await expect.poll(runner).toEqual({ runner: null, state: 'open' })

  await psql.query('drop trigger full_disk on message')
  again.answer.resolve('shipped')
  await expect.poll(runner).toMatchObject({ state: 'done' })
})
