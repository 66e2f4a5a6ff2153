import { ToolError, type Verification } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ana, ben, leapingClock, openGate } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'

const MINUTE_MS = 60_000

/** A service that takes requests and carries them out when it is told to. Its answer to every request is lost. */
function slowService({ authoritative, isAway }: { authoritative?: true; isAway?: () => boolean } = {}) {
  const arrived: string[] = []
  const done = new Set<string>()
  let looks = 0
  let looked = Promise.withResolvers<void>()
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    input: z.object({}),
    effect: 'write',
    timeoutMs: 1_000,
    settlesWithin: 'PT5M',
    execute: (_, { idempotencyKey }) => {
      arrived.push(idempotencyKey)
      throw new ToolError('ambiguous', 'The line went dead.')
    },
    verify: (_, { idempotencyKey }): Verification => {
      looks++
      looked.resolve()
      looked = Promise.withResolvers()
      if (isAway?.()) return { done: 'unknown' }
      if (done.has(idempotencyKey)) return { done: true, output: { paid: idempotencyKey } }
      return authoritative ? { done: false, authoritative } : { done: false }
    },
  })
  return {
    tool: pay,
    arrived,
    get looks() {
      return looks
    },
    /** Resolves when the service is next asked. */
    nextLook: () => looked.promise,
    act: () => arrived.forEach((key) => void done.add(key)),
  }
}

test('an effect that comes after the first looks did not find it is never called a failure: it is found later', async () => {
  const service = slowService()
  const clock = leapingClock()
  await using gate = await openGate([service.tool], { clock })
  const unknown = await gate.runAttempt('pay')
  expect(unknown).toMatchObject({
    state: 'outcome_unknown',
    attempt: 1,
    error: { kind: 'ambiguous', message: 'The line went dead.', retryable: true },
    checks: { since: unknown.updatedAt, ended: false, lastFound: 'not_found' },
  })
  const windowMs = Date.parse(unknown.checks?.until ?? '') - Date.parse(unknown.updatedAt)
  expect(windowMs).toBe(5 * MINUTE_MS)

  const looked = service.nextLook()
  clock.leap(6_000)
  await looked
  expect(await gate.until(unknown.id)).toMatchObject({ state: 'outcome_unknown' })
  service.act()
  clock.leap(MINUTE_MS)
  const found = await gate.until(unknown.id, ({ state }) => state !== 'outcome_unknown')
  expect(found).toMatchObject({
    state: 'succeeded',
    attempt: 1,
    result: { paid: `${unknown.id}.1` },
    error: null,
    resolution: null,
    checks: null,
  })
  expect(service.arrived).toHaveLength(1)
})

test('what is not found until its time is over is for a person: no longer checked, and still not a failure', async () => {
  const service = slowService()
  const clock = leapingClock()
  await using gate = await openGate([service.tool], { clock })
  const { id } = await gate.runAttempt('pay')
  clock.leap(5 * MINUTE_MS)
  const ended = await gate.until(id, ({ checks }) => checks?.ended === true)
  expect(ended).toMatchObject({ state: 'outcome_unknown', error: { retryable: true }, checks: { ended: true, lastFound: 'not_found' } })
  expect(Date.parse(ended.checks?.lastAt ?? '')).toBeGreaterThanOrEqual(Date.parse(ended.checks?.until ?? ''))

  const { looks } = service
  clock.leap(24 * 60 * MINUTE_MS)
  const { gate: doors } = gate.engine
  expect(await doors.verify(id, { principal: ben })).toMatchObject({ state: 'outcome_unknown', checks: { ended: true } })
  expect(service.looks).toBe(looks + 1)
  expect(await doors.resolve(id, { outcome: 'failed', note: 'Not in the books.' }, { principal: ben })).toMatchObject({
    state: 'failed',
    checks: null,
  })
})

test('a look-up that a person asked for and that settles nothing is in the checks, and readers are told', async () => {
  let isAway = false
  const service = slowService({ isAway: () => isAway })
  const clock = leapingClock()
  await using gate = await openGate([service.tool], { clock })
  const { gate: doors, hub } = gate.engine
  const { id, checks: first } = await gate.runAttempt('pay')
  let told = 0
  const stop = await hub.onAction(id, () => void told++)
  clock.leap(1_000)
  const looked = await doors.verify(id, { principal: ben })
  expect(looked).toMatchObject({ state: 'outcome_unknown', checks: { ...first, lastAt: expect.any(String), lastFound: 'not_found' } })
  expect(Date.parse(looked.checks?.lastAt ?? '') - Date.parse(first?.lastAt ?? '')).toBeGreaterThanOrEqual(1_000)
  isAway = true
  clock.leap(1_000)
  expect(await doors.verify(id, { principal: ben })).toMatchObject({ checks: { ended: false, lastFound: 'no_answer' } })
  await expect.poll(() => told).toBe(2)
  stop()

  // The automatic checks go on, and the last one counts.
  isAway = false
  clock.leap(5 * MINUTE_MS)
  const ended = await gate.until(id, ({ checks }) => checks?.ended === true)
  expect(ended.checks?.lastFound).toBe('not_found')
  isAway = true
  expect(await doors.verify(id, { principal: ben })).toMatchObject({ checks: { ended: true, lastFound: 'no_answer' } })
})

test('a look-up that is authoritative settles at once what it does not find', async () => {
  const service = slowService({ authoritative: true })
  await using gate = await openGate([service.tool])
  const action = await gate.runAttempt('pay')
  expect(action).toMatchObject({ state: 'failed', error: { kind: 'not_done', retryable: true }, checks: null })
  expect(service.looks).toBe(1)
})

test('automatic checks go on after a restart, until their time is over', async () => {
  await using temp = await openTempSqlite()
  await temp.store.close()
  const { dataDir } = temp
  const service = slowService()
  const clock = leapingClock()
  let id: string
  {
    await using gate = await openGate([service.tool], { clock, dataDir })
    ;({ id } = await gate.runAttempt('pay'))
  }
  service.act()
  clock.leap(MINUTE_MS)
  await using gate = await openGate([service.tool], { clock, dataDir })
  expect(await gate.until(id, ({ state }) => state === 'succeeded')).toMatchObject({ attempt: 1, checks: null })
})

test('a retry after an outcome that was ever unknown keeps its key, whatever was found of it and however it failed since', async () => {
  const keys: string[] = []
  let fails: () => never = () => {
    throw new ToolError('ambiguous', 'The line went dead.')
  }
  const tool = defineTool({
    name: 'blind',
    description: 'Blind',
    input: z.object({}),
    effect: 'write',
    execute: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return fails()
    },
  })
  await using gate = await openGate([tool])
  const { gate: doors } = gate.engine
  const { id } = await gate.runAttempt('blind')
  await doors.resolve(id, { outcome: 'failed', note: 'Not in the books.' }, { principal: ben })
  fails = () => {
    throw new ToolError('refused', 'Not now.', { retryable: true })
  }
  expect(await doors.retry(id, { principal: ana })).toMatchObject({ attempt: 2, idempotencyKey: `${id}.1` })
  expect(await gate.until(id)).toMatchObject({ state: 'failed', error: { kind: 'refused' } })
  await doors.retry(id, { principal: ana })
  await gate.until(id, ({ state, attempt }) => state === 'failed' && attempt === 3)
  expect(keys).toEqual([`${id}.1`, `${id}.1`, `${id}.1`])
})

test('a retry after definite refusals only gets a new key each time', async () => {
  const keys: string[] = []
  const tool = defineTool({
    name: 'refused',
    description: 'Refused',
    input: z.object({}),
    effect: 'write',
    execute: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      throw new ToolError('refused', 'Not now.', { retryable: true })
    },
  })
  await using gate = await openGate([tool])
  const { id } = await gate.runAttempt('refused')
  await gate.engine.gate.retry(id, { principal: ana })
  await gate.until(id, ({ state, attempt }) => state === 'failed' && attempt === 2)
  expect(keys).toEqual([`${id}.1`, `${id}.2`])
})
