import { type Action, ToolError, type Verification } from '@countersign/core'
import { type CodedTool, defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ana, ben, leapingClock, type OpenGate, openGate } from '../../../../../verification/testing/open-gate.ts'

const lose = () => {
  throw new ToolError('ambiguous', 'The line went dead.')
}

/** A gate whose clock stands still: it does not look by itself in the middle of a test. */
const openStill = (own: readonly CodedTool[], clock = leapingClock()): Promise<OpenGate> => openGate(own, { clock })

/** A write whose answer is lost, and which can be asked: it answers the next of `findings`, the last one for good. */
function asked(findings: (Verification | 'throws' | 'silence')[]) {
  const keys: string[] = []
  const tool = defineTool({
    name: 'asked',
    description: 'Asked',
    input: z.object({}),
    effect: 'write',
    timeoutMs: 1_000,
    execute: lose,
    verify: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      const finding = findings[Math.min(keys.length, findings.length) - 1]
      if (finding === 'silence') return new Promise<never>(() => {})
      if (finding === undefined || finding === 'throws') throw new Error('away')
      return finding
    },
    resultUrl: (_, output) => `/things/${(output as { id: number } | null)?.id}`,
  })
  return { tool, keys }
}

const blind = defineTool({ name: 'blind', description: 'Blind', input: z.object({}), effect: 'write', execute: lose })

test('a tool that can be asked is asked: done is a success with its output', async () => {
  const { tool, keys } = asked([{ done: true, output: { id: 7 } }])
  await using gate = await openStill([tool])
  const action = await gate.runAttempt('asked')
  expect(action).toMatchObject({ state: 'succeeded', attempt: 1, result: { id: 7 }, resultUrl: '/things/7', error: null })
  expect(keys).toEqual([`${action.id}.1`])
})

test('"not found" settles nothing, however often it was said: the lost request may still be on its way', async () => {
  const late = asked([{ done: false }, { done: false }, { done: true, output: { id: 7 } }])
  await using arrives = await openStill([late.tool])
  expect(await arrives.runAttempt('asked')).toMatchObject({ state: 'succeeded', result: { id: 7 } })

  const { tool, keys } = asked([{ done: false }])
  await using gate = await openStill([tool])
  const action = await gate.runAttempt('asked')
  expect(action).toMatchObject({ state: 'outcome_unknown', attempt: 1, checks: { ended: false, lastFound: 'not_found' } })
  expect(keys).toHaveLength(3)
  expect(await gate.engine.gate.verify(action.id, { principal: ben })).toEqual({
    ...action,
    checks: { ...action.checks, lastAt: expect.any(String) },
  })
})

for (const finding of [{ done: 'unknown' }, 'throws', 'silence'] as const) {
  test(`a tool that cannot tell (${JSON.stringify(finding)}) leaves the outcome unknown, to be asked again`, async () => {
    const { tool, keys } = asked([finding])
    await using gate = await openStill([tool])
    const action = await gate.runAttempt('asked')
    expect(action).toMatchObject({
      state: 'outcome_unknown',
      error: { kind: 'ambiguous', message: 'The line went dead.', retryable: true },
    })
    expect(keys).toHaveLength(3)
  })
}

test('what a tool cannot tell today it may tell tomorrow: asked again, the action is settled by what it found', async () => {
  const { tool, keys } = asked(['throws', 'throws', 'throws', { done: 'unknown' }, { done: true, output: { id: 7 } }])
  await using gate = await openStill([tool])
  const { id } = await gate.runAttempt('asked')
  const { gate: doors } = gate.engine
  expect(await doors.verify(id, { principal: ben })).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
  const seen: unknown[] = []
  await gate.engine.hub.onInbox(({ event }) => {
    if (event.type === 'action_update') seen.push(event.data)
  })
  const found = await doors.verify(id, { principal: ben })
  expect(found).toMatchObject({ state: 'succeeded', attempt: 1, result: { id: 7 }, error: null, resolution: null })
  expect(seen).toEqual([
    expect.objectContaining({
      proposalId: id,
      state: 'succeeded',
      result: { id: 7 },
      resultUrl: '/things/7',
      error: null,
      resolution: null,
    }),
  ])
  await expect(doors.verify(id, { principal: ben })).rejects.toMatchObject({ code: 'illegal_transition', extra: { action: found } })
  expect(keys).toHaveLength(5)
})

test('what an authoritative look-up did not find may be tried again, under the same key', async () => {
  const { tool } = asked([{ done: false, authoritative: true }])
  await using gate = await openStill([tool])
  const failed = await gate.runAttempt('asked')
  expect(failed).toMatchObject({ state: 'failed', error: { kind: 'not_done', retryable: true } })
  expect(failed.error?.message).toBe('own.asked looked: it was not carried out and will not be')
  const { id } = failed
  expect(await gate.engine.gate.retry(id, { principal: ana })).toMatchObject({ state: 'executing', attempt: 2, idempotencyKey: `${id}.1` })
})

test('where the target honours the key, checking again sends the attempt again under it', async () => {
  const keys: string[] = []
  const tool = defineTool({
    name: 'keyed',
    description: 'Keyed',
    input: z.object({}),
    effect: 'write',
    idempotent: true,
    execute: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return keys.length < 5 ? lose() : { id: 7 }
    },
  })
  await using gate = await openStill([tool])
  const { id } = await gate.runAttempt('keyed')
  expect(keys).toHaveLength(3)
  expect(await gate.engine.gate.verify(id, { principal: ben })).toMatchObject({ state: 'executing', attempt: 4, error: null })
  // One more by a person's word, not three.
  expect(await gate.until(id)).toMatchObject({ state: 'outcome_unknown', attempt: 4, error: { retryable: true } })
  await gate.engine.gate.verify(id, { principal: ben })
  expect(await gate.until(id)).toMatchObject({ state: 'succeeded', attempt: 5, result: { id: 7 } })
  expect(keys).toEqual(Array(5).fill(`${id}.1`))
})

test('what a tool finds after somebody else settled the action changes nothing', async () => {
  const looking = Promise.withResolvers<void>()
  const found = Promise.withResolvers<Verification>()
  let asks = 0
  const tool = defineTool({
    name: 'slow',
    description: 'Slow',
    input: z.object({}),
    effect: 'write',
    // The look is held until the test answers it.
    timeoutMs: 30_000_000,
    execute: lose,
    verify: () => {
      if (++asks <= 3) return { done: 'unknown' }
      looking.resolve()
      return found.promise
    },
  })
  await using gate = await openStill([tool])
  const { id } = await gate.runAttempt('slow')
  const { gate: doors } = gate.engine
  const checking = doors.verify(id, { principal: ben })
  await looking.promise
  const settled = await doors.resolve(id, { outcome: 'failed', note: 'Not in the books.' }, { principal: ana })
  found.resolve({ done: true, output: 1 })
  expect(await checking).toEqual(settled)
})

test('a tool that cannot be asked is not: the outcome is for a person, who is told so', async () => {
  await using gate = await openStill([blind])
  const action = await gate.runAttempt('blind')
  expect(action).toMatchObject({ state: 'outcome_unknown', error: { retryable: false } })
  const refused = gate.engine.gate.verify(action.id, { principal: ben })
  await expect(refused).rejects.toMatchObject({ code: 'illegal_transition', extra: { action } })
  await expect(refused).rejects.toThrow(/own\.blind cannot tell what came of act_/)
})

const resolveAs = (gate: OpenGate, { id }: Action, outcome: 'succeeded' | 'failed', note = 'I looked.', principal = ben) =>
  gate.engine.gate.resolve(id, { outcome, note }, { principal })

test('a person settles an unknown outcome, with who, when and how they know', async () => {
  const clock = leapingClock()
  await using gate = await openStill([blind], clock)
  const unknown = await gate.runAttempt('blind')
  // Within the same millisecond, `updatedAt` would be a millisecond later than the time of the resolution.
  clock.leap(1_000)
  const done = await resolveAs(gate, unknown, 'succeeded', 'It is in the books.')
  expect(done).toMatchObject({
    state: 'succeeded',
    error: null,
    attempt: 1,
    resolution: { by: ben, outcome: 'succeeded', note: 'It is in the books.', at: done.updatedAt },
  })
  expect(await resolveAs(gate, unknown, 'succeeded', 'It is in the books.')).toEqual(done)
  for (const again of [
    resolveAs(gate, unknown, 'failed', 'It is in the books.'),
    resolveAs(gate, unknown, 'succeeded', 'Another note.'),
    resolveAs(gate, unknown, 'succeeded', 'It is in the books.', ana),
  ]) {
    await expect(again).rejects.toMatchObject({ code: 'illegal_transition', extra: { action: done } })
    await expect(again).rejects.toThrow(/Ben said at .* that it succeeded/)
  }
})

test('what a person found not done may be tried again under the same key, and the old finding goes with the old attempt', async () => {
  await using gate = await openStill([blind])
  const unknown = await gate.runAttempt('blind')
  const notDone = await resolveAs(gate, unknown, 'failed', 'Nothing in the books.')
  expect(notDone).toMatchObject({
    state: 'failed',
    error: { kind: 'not_done', message: 'Ben found that it was not carried out: Nothing in the books.', retryable: true },
    resolution: { outcome: 'failed' },
  })
  const seen: unknown[] = []
  await gate.engine.hub.onInbox(({ event }) => {
    if (event.type === 'action_update') seen.push(event.data)
  })
  const again = await gate.engine.gate.retry(unknown.id, { principal: ana })
  expect(again).toMatchObject({ state: 'executing', attempt: 2, idempotencyKey: `${unknown.id}.1`, error: null, resolution: null })
  expect(seen[0]).toMatchObject({ state: 'executing', error: null, resolution: null })
  expect(await gate.until(unknown.id)).toMatchObject({ state: 'outcome_unknown', attempt: 2, resolution: null })
  expect(await resolveAs(gate, unknown, 'succeeded')).toMatchObject({ state: 'succeeded', resolution: { outcome: 'succeeded' } })
})

test('what a person found of one attempt settles no later one, however late it arrives or is sent again', async () => {
  await using gate = await openStill([blind])
  const { id } = await gate.runAttempt('blind')
  const say = (attempt: number) => gate.engine.gate.resolve(id, { outcome: 'failed', note: 'I looked.', attempt }, { principal: ben })
  expect(await say(1)).toMatchObject({ state: 'failed', resolution: { outcome: 'failed' } })
  expect(await say(1)).toMatchObject({ state: 'failed', attempt: 1 })
  await gate.engine.gate.retry(id, { principal: ana })
  const second = await gate.until(id)
  expect(second).toMatchObject({ state: 'outcome_unknown', attempt: 2 })
  await expect(say(1)).rejects.toMatchObject({ code: 'illegal_transition', extra: { action: second } })
  await expect(say(1)).rejects.toThrow(/about attempt 1 of act_.*, which is at attempt 2 and outcome_unknown/)
  expect(await say(2)).toMatchObject({ state: 'failed', attempt: 2 })
})

test('of persons who settle one outcome at once exactly one counts, and the others hear which', async () => {
  await using gate = await openStill([blind])
  for (let round = 0; round < 10; round++) {
    const unknown = await gate.runAttempt('blind')
    const answers = await Promise.allSettled([
      resolveAs(gate, unknown, 'succeeded', 'Yes.', ana),
      resolveAs(gate, unknown, 'failed', 'No.', ben),
      resolveAs(gate, unknown, 'failed', 'No.', ana),
      resolveAs(gate, unknown, 'succeeded', 'Yes.', ben),
    ])
    const winners = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    expect(winners).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'illegal_transition', extra: { action: winners[0] } })
    }
  }
})
