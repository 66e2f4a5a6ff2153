import { ToolError, type ToolErrorKind, type Verification } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ben, leapingClock, openGate } from '../../../../../verification/testing/open-gate.ts'

const pay = (code: { execute: () => unknown; verify?: () => unknown }, name = 'pay') => {
  let sends = 0
  const tool = defineTool({
    name,
    description: 'Pay',
    input: z.object({}),
    effect: 'write',
    timeoutMs: 1_000,
    execute: () => {
      sends++
      return code.execute()
    },
    ...(code.verify && { verify: code.verify as () => Verification }),
  })
  return { tool, sends: () => sends }
}

const lose = () => {
  throw new ToolError('ambiguous', 'The line went dead.')
}

/** `Retry-After` as careless code reads it: a date as a number, a header that is not there, seconds with a fraction, the far past. */
const PAUSES = [Number.NaN, 0.1, 1_100.000_000_000_000_2, -5_000, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '3', null, {}]

test('whatever pause a tool names, its action is not left executing, and is looked at again', async () => {
  const clock = leapingClock()
  let isBack = false
  const tools = PAUSES.map((retryAfterMs, index) => {
    const later = (kind: ToolErrorKind) => {
      throw new ToolError(kind, 'Later.', { retryAfterMs: retryAfterMs as number })
    }
    return pay({ execute: () => later('ambiguous'), verify: () => (isBack ? { done: true } : later('refused')) }, `pay${index}`)
  })
  await using gate = await openGate(
    tools.map(({ tool }) => tool),
    { clock },
  )
  const unknown = await Promise.all(tools.map(({ tool }) => gate.runAttempt(tool.name)))
  for (const one of unknown) expect(one).toMatchObject({ state: 'outcome_unknown', error: { retryable: true } })
  isBack = true
  clock.leap(15 * 60_000)
  for (const { id } of unknown)
    expect(await gate.until(id, ({ state }) => state !== 'outcome_unknown')).toMatchObject({ state: 'succeeded' })
  expect(tools.map(({ sends }) => sends())).toEqual(PAUSES.map(() => 1))
})

test('a write that fails with an error of an unknown kind may have acted: it is of unknown outcome, and no retry has a new key', async () => {
  const kinds = ['timeout', 'ECONNRESET', '', undefined, null, 7]
  const tools = kinds.map((kind, index) =>
    pay(
      {
        execute: () => {
          throw new ToolError(kind as ToolErrorKind, 'It broke off.')
        },
      },
      `pay${index}`,
    ),
  )
  await using gate = await openGate(tools.map(({ tool }) => tool))
  const ended = await Promise.all(tools.map(({ tool }) => gate.runAttempt(tool.name)))
  for (const one of ended) expect(one).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
  expect(tools.map(({ sends }) => sends())).toEqual(kinds.map(() => 1))
})

test('whatever a tool throws, its action is not left executing, and is sent once', async () => {
  const circular = new Error('circular')
  circular.cause = circular
  const thrown = [
    ...[null, undefined, 0, 'no', 10n, Symbol('no'), Object.create(null), new Proxy({}, {}), circular],
    Object.assign(new Error('x'.repeat(5_000_000)), { big: 10n }),
    Object.assign(new Error('lies'), { name: 'ToolError', kind: 'ambiguous', message: { toString: 1 } }),
    Object.defineProperty(new Error('traps'), 'name', { get: () => lose() }),
    Object.defineProperty(new Error('traps'), 'message', { get: () => lose() }),
  ]
  const tools = thrown.map((error, index) => {
    const code = () => {
      throw error
    }
    return pay({ execute: code, verify: code }, `pay${index}`)
  })
  await using gate = await openGate(tools.map(({ tool }) => tool))
  const ended = await Promise.all(tools.map(({ tool }) => gate.runAttempt(tool.name)))
  expect(ended.map(({ state }) => state)).toEqual(thrown.map(() => 'outcome_unknown'))
  expect(tools.map(({ sends }) => sends())).toEqual(thrown.map(() => 1))
})

test('an answer that comes after the limit of the tool settles nothing by itself, and the next look does', async () => {
  const late: (() => void)[] = []
  const clock = leapingClock()
  let looks = 0
  const answer = { done: true, output: { paid: 1 } }
  const { tool, sends } = pay({
    execute: lose,
    verify: () => (++looks > 3 ? answer : new Promise((resolve) => late.push(() => resolve(answer)))),
  })
  await using gate = await openGate([tool], { clock })
  const unknown = await gate.runAttempt('pay')
  expect(unknown.state).toBe('outcome_unknown')
  for (const answerLate of late) answerLate()
  expect(await gate.until(unknown.id)).toEqual(unknown)
  expect(await gate.engine.gate.verify(unknown.id, { principal: ben })).toMatchObject({ state: 'succeeded', result: { paid: 1 } })
  expect(sends()).toBe(1)
})

test('a look-up that says done and then not, or not and then done, is believed once: nothing is sent again', async () => {
  for (const [first, then, state] of [
    [{ done: true }, { done: false, authoritative: true }, 'succeeded'],
    [{ done: false, authoritative: true }, { done: true }, 'failed'],
  ] as const) {
    const answers: Verification[] = [first, then]
    const { tool, sends } = pay({ execute: lose, verify: () => answers.shift() })
    await using gate = await openGate([tool])
    const settled = await gate.runAttempt('pay')
    expect(settled.state).toBe(state)
    await expect(gate.engine.gate.verify(settled.id, { principal: ben })).rejects.toMatchObject({ code: 'illegal_transition' })
    expect(await gate.until(settled.id)).toEqual(settled)
    expect(sends()).toBe(1)
  }
})
