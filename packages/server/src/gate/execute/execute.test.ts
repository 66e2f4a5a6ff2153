import { ToolError } from '@countersign/core'
import { defineTool, type ToolDefinition } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { ana, openGate } from '../../../../../verification/testing/open-gate.ts'

type Own = Partial<ToolDefinition<object>> & Pick<ToolDefinition<object>, 'execute'>

/** A write, unless it says otherwise, whose timeout a hurried clock makes 10 ms. */
const tool = (name: string, own: Own) =>
  defineTool({ name, description: name, input: z.object({}), effect: 'write', timeoutMs: 1_000, ...own })

const ambiguous = () => new ToolError('ambiguous', 'the line went dead')

/** Rejects with the reason of the signal, as `fetch` does. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

test('a write without a trustworthy answer is of unknown outcome, whatever became of the answer, and is sent once', async () => {
  let calls = 0
  const counted = (end: () => unknown) => () => {
    calls++
    return end()
  }
  const never = () => new Promise<null>(() => {})
  await using gate = await openGate([
    tool('silent', { execute: counted(never) }),
    tool('cut', { execute: counted(() => Promise.reject(ambiguous())) }),
    tool('broken', { execute: counted(() => Promise.reject(new TypeError('x is not a function'))) }),
  ])
  const error = { retryable: false }
  expect(await gate.runAttempt('silent')).toMatchObject({
    state: 'outcome_unknown',
    error: { ...error, kind: 'ambiguous', message: 'own.silent did not answer within 1 s' },
  })
  expect(await gate.runAttempt('cut')).toMatchObject({ state: 'outcome_unknown', error: { ...error, message: 'the line went dead' } })
  expect(await gate.runAttempt('broken')).toMatchObject({
    state: 'outcome_unknown',
    error: { ...error, kind: 'broken', message: 'own.broken crashed while running' },
  })
  expect(calls).toBe(3)
})

test('what a target recognises by its key is sent three times under it, each announced as an attempt, then it is for people', async () => {
  const keys: string[] = []
  await using gate = await openGate([
    tool('lost', {
      idempotent: true,
      execute: (_, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        throw ambiguous()
      },
    }),
  ])
  const seen: unknown[] = []
  await gate.engine.hub.onInbox(({ event }) => {
    if (event.type === 'action_update') seen.push([event.data.state, event.data.attempt, event.data.idempotencyKey])
  })
  const action = await gate.runAttempt('lost')
  expect(action).toMatchObject({ state: 'outcome_unknown', attempt: 3, error: { kind: 'ambiguous', retryable: true } })
  expect(action.error?.message).toBe('the line went dead. It was sent 3 times under the same key.')
  const key = `${action.id}.1`
  expect(keys).toEqual([key, key, key])
  expect(seen).toEqual([
    ['approved', undefined, undefined],
    ['executing', 1, key],
    ['executing', 2, key],
    ['executing', 3, key],
    ['outcome_unknown', undefined, undefined],
  ])
})

test('nothing is sent again before the time that a target asked for; one that asks for long is left to people', async () => {
  const clock = manualClock()
  let askedMs = 7_000
  let calls = 0
  await using gate = await openGate(
    [
      tool('busy', {
        idempotent: true,
        execute: () => {
          calls++
          throw new ToolError('ambiguous', 'busy (503)', { retryAfterMs: askedMs })
        },
      }),
    ],
    { clock },
  )
  const ended = gate.runAttempt('busy')
  for (const [sent, waitMs] of [
    [1, 7_000],
    [2, 30_000],
  ] as const) {
    await expect.poll(() => calls).toBe(sent)
    await expect.poll(() => clock.waits.includes(waitMs)).toBe(true)
    askedMs = 30_000
    clock.pass(waitMs - 1)
    expect(calls).toBe(sent)
    clock.pass(1)
  }
  expect((await ended).error?.message).toBe('busy (503). It was sent 3 times under the same key.')
  for (const longMs of [30_001, 3e12, Number.POSITIVE_INFINITY]) {
    const before = calls
    askedMs = longMs
    expect((await gate.runAttempt('busy')).error?.message).toBe('busy (503). It was sent once.')
    expect(calls).toBe(before + 1)
  }
})

test('what a target recognises by its key succeeds when a later send is answered', async () => {
  let calls = 0
  await using gate = await openGate([
    tool('shaky', {
      idempotent: true,
      execute: () => {
        if (++calls < 3) throw calls === 1 ? ambiguous() : new RangeError('bug')
        return { id: 7 }
      },
    }),
  ])
  expect(await gate.runAttempt('shaky')).toMatchObject({ state: 'succeeded', attempt: 3, result: { id: 7 }, error: null })
})

for (const kind of ['refused', 'unreachable', 'broken'] as const) {
  test(`"${kind}" about a repeat settles nothing: the send before it may have acted`, async () => {
    let calls = 0
    await using gate = await openGate([
      tool('t', {
        idempotent: true,
        execute: () => {
          throw ++calls === 1 ? ambiguous() : new ToolError(kind, 'No.')
        },
      }),
    ])
    const action = await gate.runAttempt('t')
    expect(action).toMatchObject({ state: 'outcome_unknown', attempt: 3, error: { kind: 'ambiguous', retryable: true } })
    expect(action.error?.message).toContain('No. An earlier send under the same key may have acted.')
  })

  test(`"${kind}" about a first send is a failure that may be tried again under a new key`, async () => {
    const keys: string[] = []
    await using gate = await openGate([
      tool('t', {
        idempotent: true,
        execute: (_, { idempotencyKey }) => {
          keys.push(idempotencyKey)
          if (keys.length === 1) throw new ToolError(kind, 'No.')
        },
      }),
    ])
    const failed = await gate.runAttempt('t')
    expect(failed).toMatchObject({ state: 'failed', attempt: 1, error: { kind, message: 'No.' } })
    await gate.engine.gate.retry(failed.id, { principal: failed.requestedBy })
    expect(await gate.until(failed.id)).toMatchObject({ state: 'succeeded', attempt: 2 })
    expect(keys).toEqual([`${failed.id}.1`, `${failed.id}.2`])
  })
}

test('a link that a tool makes is http, https or a path here', async () => {
  const linked = defineTool({
    name: 'linked',
    description: 'linked',
    input: z.object({ to: z.string() }),
    effect: 'write',
    timeoutMs: 60_000,
    resultUrl: ({ to }) => to,
    execute: () => null,
  })
  await using gate = await openGate([linked])
  for (const to of ['https://shop.example/orders/4', 'http://127.0.0.1/x', '/orders/4']) {
    expect(await gate.runAttempt('linked', { to })).toMatchObject({ state: 'succeeded', resultUrl: to })
  }
  for (const to of ['javascript:alert(1)', 'data:text/html,x', '//evil.example', '/\\evil.example', 'orders/4']) {
    expect(await gate.runAttempt('linked', { to }), to).toMatchObject({ state: 'succeeded', resultUrl: null })
  }
})

test('a read that gets no answer has failed, and is not read again by itself', async () => {
  let calls = 0
  await using gate = await openGate([
    tool('look', {
      effect: 'read',
      execute: () => {
        calls++
        throw ambiguous()
      },
    }),
  ])
  const { id } = await gate.engine.gate.propose({ tool: 'own.look', arguments: {} }, { principal: ana })
  expect(await gate.until(id)).toMatchObject({ state: 'failed', attempt: 1, error: { kind: 'ambiguous', retryable: true } })
  expect(calls).toBe(1)
})

test.each([
  ['heeds no signal', () => new Promise<never>(() => {})],
  ['ends with its signal', (_args: unknown, signal: AbortSignal) => untilAborted(signal)],
])('a preview that %s is given up: the card comes without current values', async (_how, preview) => {
  await using gate = await openGate([tool('slow', { preview, execute: () => null })])
  const action = await gate.engine.gate.propose({ tool: 'own.slow', arguments: {} }, { principal: ana })
  expect(action).toMatchObject({ state: 'proposed', preview: null, previewError: 'own.slow did not answer within 5 s', previewedAt: null })
})
