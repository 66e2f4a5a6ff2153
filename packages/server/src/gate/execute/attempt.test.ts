import { type Tool, ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { openTools } from '@countersign/toolkit/internal'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { ALIVE, openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { hurriedClock } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import type { ActionRow } from '../../store/index.ts'
import { anAction } from '../../store/testing/an-action.ts'
import type { GateDeps } from '../gate.ts'
import { attempt, failed, notDone, sentence, succeeded } from './attempt.ts'
import { nextKey, sendsOf } from './attempt-key.ts'

const deps = { log: pino({ level: 'silent' }), life: ALIVE } as unknown as GateDeps
const toolWith = (own: Partial<Tool>) => ({ name: 'own.pay', ...own }) as Tool
const REFUSED = failed('refused', 'No', true)

test('a failure settles the first send of an action', () => {
  expect(notDone(anAction('act_1', { attempt: 1 }), toolWith({ idempotent: true }), REFUSED)).toBe(REFUSED)
})

test('a failure of a read settles it, however often it was sent', () => {
  expect(notDone(anAction('act_1', { effect: 'read', attempt: 3 }), toolWith({ idempotent: true }), REFUSED)).toBe(REFUSED)
})

test('a failure after a lost send of a write settles nothing', () => {
  expect(notDone(anAction('act_1', { attempt: 2 }), toolWith({}), REFUSED)).toEqual({
    to: 'lost',
    kind: 'ambiguous',
    message: 'No. An earlier send under the same key may have acted.',
  })
})

test('a failure of a retry settles nothing while the target, or a look-up, may know of the send that was lost before', () => {
  const retried = anAction('act_1', { attempt: 2, first_send: 2, in_doubt: 1 })
  const verify = async () => ({ done: 'unknown' as const })
  expect(notDone(retried, toolWith({ idempotent: true }), REFUSED)).toMatchObject({ to: 'lost' })
  expect(notDone(retried, toolWith({ idempotent: false, verify }), REFUSED)).toMatchObject({ to: 'lost' })
  expect(notDone({ ...retried, in_doubt: 0 }, toolWith({ idempotent: true, verify }), REFUSED)).toBe(REFUSED)
})

test('a failure of a retry stands where a person settled the lost send and nothing else can tell', () => {
  const retried = anAction('act_1', { attempt: 2, first_send: 2, in_doubt: 1 })
  expect(notDone(retried, toolWith({ idempotent: false }), REFUSED)).toBe(REFUSED)
  expect(notDone(retried, undefined, REFUSED)).toBe(REFUSED)
})

test('a message ends as a sentence once', () => {
  expect(['No', 'No.', 'No!', 'No?', 'No…', '3.5 is too much', ''].map(sentence)).toEqual([
    ...['No.', 'No.', 'No!', 'No?', 'No…', '3.5 is too much.', '.'],
  ])
})

test('a result of up to 1,000,000 bytes is kept whole; of a larger one its size and its start', () => {
  // Two quotes, and two bytes for each character.
  const largest = 'é'.repeat(499_999)
  expect(succeeded(deps, toolWith({}), {}, largest).output).toBe(largest)
  expect(succeeded(deps, toolWith({}), {}, `${largest}x`).output).toEqual({
    truncated: true,
    bytes: 1_000_001,
    start: `"${'é'.repeat(9_999)}`,
  })
  // Not in the middle of a character, which some models refuse.
  const { output } = succeeded(deps, toolWith({}), {}, '🙂'.repeat(300_000))
  expect(output).toMatchObject({ start: expect.stringMatching(/^"🙂+\uFFFD$/u) })
  expect(succeeded(deps, toolWith({}), {}, undefined)).toEqual({ to: 'succeeded', output: null, url: undefined })
})

test('the link of a result is http, https or a path of this server, and everything else is left out', () => {
  const urlOf = (url: string) => succeeded(deps, toolWith({ resultUrl: () => url }), {}, 1).url
  for (const url of ['http://a.example/1', 'https://a.example/1', 'HTTPS://a.example', '/orders/7', '/']) expect(urlOf(url)).toBe(url)
  for (const url of [
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'x https://a.example',
    'x/orders',
    'ftp://a',
    'http:/a',
    '',
  ])
    expect(urlOf(url), url).toBeUndefined()
})

test('a link that cannot be made leaves the success as it is', () => {
  const broken = toolWith({
    resultUrl: () => {
      throw new Error('no id')
    },
  })
  expect(succeeded(deps, broken, {}, { paid: true })).toEqual({ to: 'succeeded', output: { paid: true }, url: undefined })
})

test('the link is made from the arguments and from the result as it is kept', () => {
  const seen: unknown[] = []
  succeeded(deps, toolWith({ resultUrl: (...given) => void seen.push(given) as undefined }), { id: 7 }, undefined)
  expect(seen).toEqual([[{ id: 7 }, null]])
})

test('the next attempt has a new key after definite failures, and the same one once an outcome was unknown', () => {
  const row = anAction('act_1', { attempt: 2, idempotency_key: 'act_1.1' })
  expect(nextKey({ ...row, in_doubt: 0 })).toBe('act_1.3')
  expect(nextKey({ ...row, in_doubt: 1 })).toBe('act_1.1')
})

test('sends are counted from the one that a person, or the approval, started', () => {
  expect(sendsOf({ attempt: 1, first_send: 1 })).toBe(1)
  expect(sendsOf({ attempt: 5, first_send: 3 })).toBe(3)
})

const NOW = 1_000_000

interface Sent {
  effect?: 'read' | 'write'
  execute?: (...given: unknown[]) => unknown
  /** Columns that differ from those of an action that was approved and started now. */
  row?: Partial<ActionRow>
  isGone?: true
  /** Default: true. */
  isAlive?: boolean
}

/** The end of one send of an action that is approved in the database, and what its tool was called with. */
async function send({ effect = 'write', execute = () => 1, row: own, isGone, isAlive = true }: Sent) {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const calls: unknown[][] = []
  const tool = defineTool({
    ...{ name: 'do', description: 'Do', input: { type: 'object' }, effect },
    execute: (...given) => {
      calls.push(given)
      return execute() as null
    },
  })
  const { id } = await openBareGate(temp.store, [tool], 'prc_1').approved('do')
  const row = { ...(await rowOf(temp.store, id)), attempt: 1, updated_at: NOW, ...own }
  const tools = openTools(isGone ? {} : { own: { prefix: true, tools: [tool] } })
  const clock = { ...hurriedClock, nowMs: () => NOW }
  return { end: await attempt({ ...deps, tools, clock, life: { ...ALIVE, isAlive }, store: temp.store }, row), calls, row }
}

const fails = (error: Error) => () => {
  throw error
}

test('a tool is told which action and attempt it carries out, for whom, and against which version', async () => {
  const { calls, row } = await send({ row: { target_version: '"v7"', idempotency_key: 'act_1.1' } })
  const told = { actionId: row.id, idempotencyKey: 'act_1.1', principalId: 'prn_ana', version: '"v7"', signal: expect.any(AbortSignal) }
  expect(calls).toEqual([[{}, told]])
})

test('a tool that crashes in a read has failed, and may be called again; in a write it may have acted', async () => {
  const execute = fails(new TypeError('x is not a function'))
  expect((await send({ effect: 'read', execute })).end).toEqual(failed('broken', 'own.do crashed while running', true))
  expect((await send({ execute })).end).toEqual({ to: 'lost', kind: 'broken', message: 'own.do crashed while running' })
})

test('a write whose answer is lost may have acted, and is left alone for as long as the target asks', async () => {
  const execute = fails(new ToolError('ambiguous', 'Later.', { retryAfterMs: 7 }))
  expect((await send({ execute })).end).toEqual({ to: 'lost', kind: 'ambiguous', message: 'Later.', retryAfterMs: 7 })
  expect((await send({ effect: 'read', execute })).end).toEqual(failed('ambiguous', 'Later.', true))
})

test('a write that the target refused has failed as the tool says', async () => {
  expect((await send({ execute: fails(new ToolError('refused', 'No.')) })).end).toEqual(failed('refused', 'No.', false))
})

test('an action whose tool is gone fails before it is sent, and no retry can help', async () => {
  const { end, calls } = await send({ isGone: true })
  expect(end).toEqual(failed('tool_missing', 'the tool own.do is no longer configured; it was not carried out', false))
  expect(calls).toEqual([])
})

test('a process that hung for a second before it sends asks first whether the attempt is still its own', async () => {
  // The database has no such attempt: there the action is approved only.
  expect((await send({ row: { updated_at: NOW - 999 } })).calls).toHaveLength(1)
  expect(await send({ row: { updated_at: NOW - 1_000 } })).toMatchObject({ end: undefined, calls: [] })
})

test('a process that lost its sign of life before it sends asks first, too, however short the time seems', async () => {
  expect((await send({ isAlive: true })).calls).toHaveLength(1)
  expect(await send({ isAlive: false })).toMatchObject({ end: undefined, calls: [] })
})

test('a process that hung sends an attempt that is still its own, and not one that a later attempt replaced', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  let calls = 0
  const isCalled = Promise.withResolvers<void>()
  const isAnswered = Promise.withResolvers<void>()
  const tool = defineTool({
    ...{ name: 'do', description: 'Do', input: { type: 'object' }, effect: 'write' },
    // It is held until the test answers: the gate's hurried clock may not end it before.
    timeoutMs: 30_000_000,
    execute: async () => {
      calls++
      isCalled.resolve()
      await isAnswered.promise
      return calls
    },
  })
  const gate = openBareGate(temp.store, [tool], 'prc_1')
  const { id } = await gate.approved('do')
  const done = gate.execute(id)
  await isCalled.promise
  const row = { ...(await rowOf(temp.store, id)), updated_at: 0 }
  const own = { ...deps, tools: openTools({ own: { prefix: true, tools: [tool] } }), clock: hurriedClock, store: temp.store }
  expect(await attempt(own, { ...row, epoch: row.epoch - 1 })).toBeUndefined()
  expect(await attempt(own, { ...row, id: 'act_none' })).toBeUndefined()
  expect(calls).toBe(1)
  const again = attempt(own, row)
  isAnswered.resolve()
  expect(await again).toMatchObject({ to: 'succeeded', output: 2 })
  await done
})

test('a tool without links is no error in the log', () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) })
  succeeded({ ...deps, log }, toolWith({}), {}, 1)
  expect(lines).toEqual([])
})
