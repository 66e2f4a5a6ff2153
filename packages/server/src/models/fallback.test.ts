import { MODEL_ERROR_CODES, type Model, type ModelErrorCode, type ModelEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createCircuits } from './circuit.ts'
import { FAILURE_RULES, type ModelChainOptions, modelChain } from './fallback.ts'
import { collect } from './testing/collect.ts'

type Failing = { code: ModelErrorCode; retryable?: boolean; retryAfterMs?: number }

/** A model that plays the given steps in order, and repeats the last one forever. */
function model(id: string, ...turns: (ModelEvent[] | Failing)[]): Model & { asked: number } {
  const it = {
    id,
    asked: 0,
    async *stream() {
      const turn = turns[Math.min(it.asked++, turns.length - 1)] ?? []
      if (Array.isArray(turn)) yield* turn
      else yield failing(id, turn)
    },
  }
  return it
}
const failing = (id: string, { code, retryable = true, ...more }: Failing): ModelEvent => ({
  type: 'error',
  code,
  message: `${id}: ${code}`,
  retryable,
  ...more,
})
const says = (text: string): ModelEvent[] => [
  { type: 'text', delta: text },
  { type: 'finish', reason: 'stop' },
]

function chain(models: readonly (Model | ModelChainOptions['links'][0])[], given: Partial<ModelChainOptions> = {}) {
  const clock = manualClock()
  const logged: string[] = []
  const note = (_: unknown, event: string) => logged.push(event)
  const links = models.map((each) => ('model' in each ? each : { model: each })) as unknown as ModelChainOptions['links']
  const options = {
    links,
    alsoOn: [],
    circuits: createCircuits({ steadyMs: clock.nowMs }),
    clock,
    log: { warn: note, error: note },
    ...given,
  }
  return { clock, logged, chained: modelChain(options as ModelChainOptions) }
}

// The rules a second time, written by hand: which models are called when the first one fails in this way.
const ASKED: Record<ModelErrorCode, string[]> = {
  model_unreachable: ['a', 'b'],
  model_overloaded: ['a', 'b'],
  model_rate_limited: ['a', 'b'],
  model_broken_stream: ['a', 'b'],
  model_error: ['a', 'b'],
  model_context_exceeded: ['a', 'large'],
  model_refused_request: ['a'],
  model_filtered: ['a'],
}

for (const code of MODEL_ERROR_CODES) {
  test(`a first model that ends with ${code}: asked are ${ASKED[code].join(', ')}`, async () => {
    const models = { a: model('a', { code }), b: model('b', says('B')), large: model('large', says('L')) }
    const { chained } = chain([
      { model: models.a, contextTokens: 100 },
      { model: models.b, contextTokens: 100 },
      { model: models.large, contextTokens: 101 },
    ])
    const events = await collect(chained)
    const asked = Object.values(models).filter((each) => each.asked > 0)
    expect(asked.map(({ id }) => id)).toEqual(ASKED[code])
    if (asked.length === 1) expect(events.at(-1)).toMatchObject({ type: 'error', code })
    else {
      expect(events).toEqual([
        { type: 'text', delta: asked[1]?.id === 'b' ? 'B' : 'L' },
        { type: 'finish', reason: 'stop', model: asked[1]?.id, passedOver: [{ model: 'a', code }] },
      ])
    }
  })
}

test('every kind of failure has a rule', () => {
  expect(Object.keys(FAILURE_RULES).sort()).toEqual([...MODEL_ERROR_CODES].sort())
})

test('a refused request goes to another model only where the configuration says so, and is told loudly then', async () => {
  const refused = model('a', { code: 'model_refused_request', retryable: false })
  const quiet = chain([refused, model('b', says('B'))])
  expect((await collect(quiet.chained)).at(-1)).toMatchObject({ type: 'error', code: 'model_refused_request' })
  expect(quiet.logged).toEqual([])
  const asked = chain([refused, model('b', says('B'))], { alsoOn: ['refused'] })
  expect((await collect(asked.chained)).at(-1)).toMatchObject({ type: 'finish', model: 'b' })
  expect(asked.logged).toEqual(['model.refused', 'model.fallback'])
})

test('a filtered answer is the end of the step, unless the configuration lets another model answer', async () => {
  const filtered: ModelEvent[] = [
    { type: 'text', delta: 'I ' },
    { type: 'finish', reason: 'content_filter' },
  ]
  const one = chain([model('a', filtered), model('b', says('B'))])
  expect((await collect(one.chained)).at(-1)).toMatchObject({ type: 'finish', reason: 'content_filter', model: 'a' })
  const two = chain([model('a', filtered), model('b', says('B'))], { alsoOn: ['filtered'] })
  expect(await collect(two.chained)).toEqual([
    { type: 'text', delta: 'I ' },
    { type: 'restart' },
    { type: 'text', delta: 'B' },
    { type: 'finish', reason: 'stop', model: 'b', passedOver: [{ model: 'a', code: 'model_filtered' }] },
  ])
})

test('with no model that is known to read more, a conversation that is too long burns no other model and says what to do', async () => {
  const b = model('b', says('B'))
  const { chained } = chain([model('a', { code: 'model_context_exceeded', retryable: false }), b])
  const [error] = await collect(chained)
  expect(error).toMatchObject({ type: 'error', code: 'model_context_exceeded', message: expect.stringContaining('contextTokens') })
  expect(b.asked).toBe(0)
})

test('the error of a chain names the model whose failure ended the step, not the one that was asked first', async () => {
  const { chained } = chain([model('a', { code: 'model_overloaded' }), model('b', { code: 'model_error' })])
  expect((await collect(chained)).at(-1)).toMatchObject({ type: 'error', code: 'model_error', model: 'b' })
  const { chained: refused } = chain([model('a', { code: 'model_refused_request' }), model('b', says('B'))])
  expect((await collect(refused)).at(-1)).toMatchObject({ type: 'error', model: 'a' })
})

test('the errors of a chain stand in one text, each sentence closed once', async () => {
  const says = (code: ModelErrorCode, message: string): ModelEvent[] => [{ type: 'error', code, message, retryable: false }]
  const { chained } = chain([model('a', says('model_overloaded', 'a is full.')), model('b', says('model_error', 'b failed.'))])
  expect((await collect(chained)).at(-1)).toMatchObject({ message: 'no model answered: a is full; b failed.' })
  for (const message of ['a cannot read that.', 'a cannot read that']) {
    const { chained } = chain([model('a', says('model_context_exceeded', message)), model('b')])
    expect((await collect(chained)).at(-1)).toMatchObject({
      message: expect.stringMatching(/^a cannot read that\. No other model of this agent is known to read more/),
    })
  }
})

test('what a stream that broke had said is taken back before the next model speaks', async () => {
  const half: ModelEvent[] = [
    { type: 'text', delta: 'I will' },
    { type: 'tool_call_start', key: 'call-1', name: 'refund' },
    { type: 'tool_call', key: 'call-1', name: 'refund', argumentsText: '{"amount":1' },
  ]
  const { chained } = chain([model('a', half), model('b', says('B'))])
  expect(await collect(chained)).toEqual([
    ...half,
    { type: 'restart' },
    { type: 'text', delta: 'B' },
    { type: 'finish', reason: 'stop', model: 'b', passedOver: [{ model: 'a', code: 'model_broken_stream' }] },
  ])
})

test('a rate limit that says when it ends is waited for when that is soon, and the same model asked again', async () => {
  const a = model('a', { code: 'model_rate_limited', retryAfterMs: 3_000 }, says('A'))
  const b = model('b', says('B'))
  const { chained, clock } = chain([a, b])
  const answer = collect(chained)
  await expect.poll(() => clock.waits).toEqual([3_000])
  clock.pass(3_000)
  expect((await answer).at(-1)).toEqual({ type: 'finish', reason: 'stop', model: 'a' })
  expect([a.asked, b.asked]).toEqual([2, 0])
})

test('a longer rate limit is waited for only when there is no other model; a used-up quota never is', async () => {
  const later = { code: 'model_rate_limited', retryAfterMs: 30_000 } as const
  const b = model('b', says('B'))
  expect((await collect(chain([model('a', later), b]).chained)).at(-1)).toMatchObject({ type: 'finish', model: 'b' })

  const alone = chain([model('a', later, says('A'))])
  const answer = collect(alone.chained)
  await expect.poll(() => alone.clock.waits).toEqual([30_000])
  alone.clock.pass(30_000)
  expect((await answer).at(-1)).toMatchObject({ type: 'finish', model: 'a' })

  const usedUp = model('a', { code: 'model_rate_limited', retryable: false, retryAfterMs: 10 })
  expect(await collect(chain([usedUp]).chained)).toMatchObject([{ type: 'error', code: 'model_rate_limited' }])
  expect(usedUp.asked).toBe(1)
})

test('a model is waited for twice at most', async () => {
  const a = model('a', { code: 'model_rate_limited', retryAfterMs: 1_000 })
  const { chained, clock } = chain([a])
  const answer = collect(chained)
  for (let i = 0; i < 2; i++) {
    await expect.poll(() => clock.waits).toEqual([1_000])
    clock.pass(1_000)
  }
  expect((await answer).at(-1)).toMatchObject({ type: 'error', code: 'model_rate_limited' })
  expect(a.asked).toBe(3)
})

test('a step that is given up while its model is waited for asks nobody any more', async () => {
  const b = model('b', says('B'))
  const { chained, clock } = chain([model('a', { code: 'model_rate_limited', retryAfterMs: 4_000 }), b])
  const stop = new AbortController()
  const answer = collect(chained, { signal: stop.signal })
  await expect.poll(() => clock.waits).toEqual([4_000])
  stop.abort()
  expect((await answer).at(-1)).toMatchObject({ type: 'error' })
  expect([b.asked, clock.waits]).toEqual([0, []])
})

test('a model that is down is not asked by the next step, and asked again when its rest is over', async () => {
  const a = model('a', { code: 'model_unreachable' }, says('A'))
  const b = model('b', says('B'))
  const { chained, clock } = chain([a, b])
  await collect(chained)
  expect((await collect(chained)).at(-1)).toMatchObject({ model: 'b', passedOver: [{ model: 'a', code: 'model_unreachable' }] })
  expect([a.asked, b.asked]).toEqual([1, 2])
  clock.pass(15_000)
  expect((await collect(chained)).at(-1)).toEqual({ type: 'finish', reason: 'stop', model: 'a' })
})

test('when no other answers, a model is asked although it rests', async () => {
  const a = model('a', { code: 'model_unreachable' }, says('A'))
  const { chained } = chain([a, model('b', { code: 'model_overloaded' })])
  expect((await collect(chained)).at(-1)).toMatchObject({
    type: 'error',
    code: 'model_overloaded',
    message: expect.stringMatching(/a: .*b: /),
  })
  expect((await collect(chained)).at(-1)).toEqual({ type: 'finish', reason: 'stop', model: 'a' })
})

test('a reader that stops reading leaves no model behind as if it were being asked', async () => {
  const a = model('a', { code: 'model_unreachable' }, says('A'))
  const { chained, clock } = chain([a, model('b', says('B'))])
  await collect(chained)
  clock.pass(15_000)
  for await (const _ of chained.stream({ instructions: '', messages: [], tools: [], signal: new AbortController().signal })) break
  expect((await collect(chained)).at(-1)).toMatchObject({ model: 'a' })
})
