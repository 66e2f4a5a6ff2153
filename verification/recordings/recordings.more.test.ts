import { canonicalJson, type SessionEvent } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RAN_THERE, WITHHELD } from '../../packages/server/src/models/testing/differences.ts'
import { type RecordedApi, type Recording, recordings } from '../../packages/server/src/models/testing/recordings.ts'
import { answerWith, type ReplayAnswer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { countCalls, historyProblems } from '../../packages/server/src/models/testing/strict-history.ts'
import { type Desk, openDesk } from './replay-demo.ts'

/**
 * Calls that do not become actions although the recording has them whole: the row and why. The model gets an error, and the run continues.
 */
const REFUSED: Record<string, { says: string; reason: string }> = {
  L0829: { says: 'the arguments must be a JSON object', reason: 'a custom tool of OpenAI takes a bare text; our tools take objects' },
}

const MINIMUMS = { 'openai-chat': 20, 'openai-responses': 20, 'anthropic-messages': 20, 'google-generateContent': 10 }
const MINIMUM_COMPATIBLE_VENDORS = 3
const OWN_VENDORS = /^(openai|openai-python|azure|azure foundry)$/i

const all = recordings()
let desk: Desk

beforeAll(async () => {
  desk = await openDesk(all)
})

afterAll(() => desk[Symbol.asyncDispose]())

const isOver = (event: SessionEvent) => event.type === 'done' || event.type === 'error'
const isWaiting = (event: SessionEvent) => event.type === 'session_status' && event.data.status === 'waiting_approval'

/** The calls of a recording that are for us, as their arguments are read. */
function ourCalls({ row, expected }: Recording) {
  if (RAN_THERE[row] || WITHHELD[row]) return []
  return expected.calls.filter((call) => !call.providerExecuted)
}
const asAction = ({ name, argumentsText }: Recording['expected']['calls'][number]) => ({
  tool: name,
  arguments: JSON.parse(argumentsText.trim() === '' ? '{}' : argumentsText),
})
/** Returns the actions for the calls: the same call twice in one step makes one action. */
const asActions = (calls: Recording['expected']['calls']) => [
  ...new Map(calls.map(asAction).map((action) => [canonicalJson(action), action])).values(),
]

const closing = (api: RecordedApi): ReplayAnswer => speak(api, { text: 'All right.' })

// Without a free core this took 221 s.
test('every recorded call becomes an action of the same tool and arguments, and a declined one goes back as a history its provider takes', {
  timeout: 600_000,
}, async () => {
  const counts: Record<string, number> = {}
  const compatible = new Set<string>()
  let actionCount = 0
  let repeatCount = 0
  const before = desk.executed.length
  for (const recording of all) {
    const calls = ourCalls(recording)
    if (calls.length === 0) continue
    const label = `${recording.id} ${recording.file}`
    await using session = await desk.ask(recording, [answerWith(recording), closing(recording.api)])
    const first = await session.until((event) => isWaiting(event) || isOver(event))
    const actions = await session.actions()
    const refused = REFUSED[recording.row]
    expect(
      actions.map(({ tool, arguments: args }) => ({ tool, arguments: args })),
      label,
    ).toEqual(refused ? [] : asActions(calls))
    if (refused) {
      const results = (await session.messages()).filter(({ role }) => role === 'tool')
      expect(
        results.map(({ content }) => content),
        label,
      ).toEqual(calls.map(() => expect.stringContaining(refused.says)))
    } else {
      expect(isWaiting(first), label).toBe(true)
      expect(
        actions.map(({ state, effect }) => `${effect} ${state}`),
        label,
      ).toEqual(actions.map(() => 'write proposed'))
      const again = (await session.messages()).filter(({ role }) => role === 'tool')
      expect(
        again.map(({ content }) => content),
        label,
      ).toEqual(calls.slice(actions.length).map(() => expect.stringContaining('This is the same call as')))
      repeatCount += again.length
      expect(session.requests(), label).toHaveLength(1)
      for (const action of actions) await session.decide(action.id, 'decline')
      expect((await session.until(isOver)).type, label).toBe('done')
    }

    const [, second, ...more] = session.requests()
    expect(more, label).toEqual([])
    expect(historyProblems(recording.api, second?.body), label).toEqual([])
    expect(countCalls(recording.api, second?.body), label).toBe(calls.length)
    if (!refused) expect(JSON.stringify(second?.body).replaceAll('\\"', '"'), label).toContain('"declined":true')
    expect(await session.session(), label).toMatchObject({ status: 'completed', pendingApprovals: [] })
    expect(
      (await session.actions()).map(({ state }) => state),
      label,
    ).toEqual(actions.map(() => 'declined'))

    actionCount += actions.length
    counts[recording.api] = (counts[recording.api] ?? 0) + 1
    if (recording.api === 'openai-chat' && !OWN_VENDORS.test(recording.vendor)) compatible.add(recording.vendor)
  }
  expect(desk.executed).toHaveLength(before)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  console.log(`recorded streams in the loop: ${total}, actions: ${actionCount}`, counts, 'compatible vendors:', [...compatible].join(', '))
  for (const [api, minimum] of Object.entries(MINIMUMS)) expect(counts[api], api).toBeGreaterThanOrEqual(minimum)
  expect(compatible.size).toBeGreaterThanOrEqual(MINIMUM_COMPATIBLE_VENDORS)
  expect(total).toBeGreaterThanOrEqual(60)
  expect(repeatCount).toBeGreaterThan(0)
})

test('what a person approves runs once, with the recorded arguments, and the provider takes the result back', async () => {
  const wanted = Object.keys(MINIMUMS).flatMap((api) =>
    all.filter((recording) => recording.api === api && !REFUSED[recording.row] && ourCalls(recording).length > 0).slice(-3),
  )
  for (const recording of wanted) {
    const label = `${recording.id} ${recording.file}`
    const calls = ourCalls(recording).map(asAction)
    await using session = await desk.ask(recording, [answerWith(recording), closing(recording.api)])
    await session.until(isWaiting)
    const before = desk.executed.length
    for (const action of await session.actions()) await session.decide(action.id, 'approve')
    expect((await session.until(isOver)).type, label).toBe('done')
    expect(desk.executed.slice(before), label).toHaveLength(calls.length)
    expect(desk.executed.slice(before), label).toEqual(expect.arrayContaining(calls))
    expect(
      (await session.actions()).map(({ state, attempt }) => `${state} ${attempt}`),
      label,
    ).toEqual(calls.map(() => 'succeeded 1'))
    expect(historyProblems(recording.api, session.requests()[1]?.body), label).toEqual([])
  }
  expect(wanted).toHaveLength(12)
})

test('what a provider ran itself (web search, code execution, MCP, hosted shell) becomes no action', async () => {
  const own = all.filter(
    (recording) =>
      recording.id === recording.row &&
      !WITHHELD[recording.row] &&
      recording.expected.calls.length > 0 &&
      ourCalls(recording).length === 0 &&
      ['stop', 'tool-calls'].includes(recording.expected.finish ?? ''),
  )
  for (const recording of own) {
    const label = `${recording.id} ${recording.file}`
    await using session = await desk.ask(recording, [answerWith(recording)])
    expect((await session.until(isOver)).type, label).toBe('done')
    expect(await session.actions(), label).toEqual([])
  }
  expect(own.length).toBeGreaterThanOrEqual(15)
})

/** Answers that end without a call although their provider did not end them well: people read a note, and the words that came stay. */
const KEPT_AS_TEXT: Record<string, { notes: string[]; reason: string }> = {
  L0397: { notes: [], reason: 'Gemini ended a text with a finish that is none of its protocol, as a text that needs nothing more' },
  L0413: { notes: ['The answer was cut at the model’s length limit.'], reason: 'a text without calls, cut by its length' },
  L0785: { notes: ['The answer was cut at the model’s length limit.'], reason: 'a text without calls, cut by its length' },
}

/** A body that stops before the provider said that it is whole. */
function cutBodies() {
  const finish: Record<RecordedApi, RegExp> = {
    'openai-chat': /"finish_reason":\s*"/,
    'openai-responses': /"type":\s*"response\.completed"/,
    'anthropic-messages': /"type":\s*"message_delta"/,
    'google-generateContent': /"finishReason":/,
  }
  return Object.keys(MINIMUMS).flatMap((api) =>
    all
      .filter((recording) => recording.api === api && ourCalls(recording).length > 0)
      .slice(0, 4)
      .flatMap((recording) => {
        const text = Buffer.from(recording.body).toString('latin1')
        const end = text.search(finish[recording.api])
        return [0.4, 0.8, 1].flatMap((share) =>
          (['end', 'reset'] as const).map((ending) => ({
            recording,
            answer: { ...answerWith({ ...recording, body: recording.body.subarray(0, Math.floor(end * share)) }), ending },
            label: `${recording.id} ${recording.file} cut at ${share} with ${ending}`,
            kept: undefined,
          })),
        )
      }),
  )
}

/** Providers that answer with an HTTP error. */
const refusedRequests = () =>
  Object.keys(MINIMUMS).flatMap((api) => {
    const recording = all.find((each) => each.api === api)
    return recording === undefined
      ? []
      : [400, 401, 429, 500, 529].map((status) => ({
          recording,
          answer: answerWith({ status, contentType: 'application/json', body: Buffer.from('{"error":{"message":"Not now."}}') }),
          label: `${api} answers ${status}`,
          kept: undefined,
        }))
  })

test('of a truncated, refused or broken answer nothing becomes an action: the run fails and says why', async () => {
  const recorded = all
    .filter(({ row, expected: { finish } }) => WITHHELD[row] || (finish !== 'stop' && finish !== 'tool-calls'))
    .map((recording) => ({
      recording,
      answer: answerWith(recording),
      label: `${recording.id} ${recording.file}`,
      kept: KEPT_AS_TEXT[recording.row],
    }))
  const cuts = cutBodies()
  const refused = refusedRequests()
  const counts = { recorded: recorded.length, cut: cuts.length, refused: refused.length, failed: 0, keptAsText: 0 }
  const before = desk.executed.length
  for (const { recording, answer, label, kept } of [...recorded, ...cuts, ...refused]) {
    await using session = await desk.ask(recording, [answer])
    const end = await session.until(isOver)
    expect(await session.actions(), label).toEqual([])
    expect(session.requests(), label).toHaveLength(1)
    const notes = (await session.messages()).flatMap(({ kind, content }) => (kind === 'note' ? [content] : []))
    if (kept) {
      counts.keptAsText++
      expect(end.type, label).toBe('done')
      expect(notes, label).toEqual(kept.notes)
      continue
    }
    counts.failed++
    expect(end, label).toMatchObject({
      type: 'error',
      data: { code: expect.stringMatching(/^model_/), error: expect.stringMatching(/\w{3}/) },
    })
    expect(notes, label).toEqual(end.type === 'error' ? [end.data.error] : [])
    expect(await session.session(), label).toMatchObject({ status: 'error', pendingApprovals: [] })
  }
  expect(desk.executed).toHaveLength(before)
  console.log('answers that must not act:', counts)
  expect(counts.recorded - counts.keptAsText).toBeGreaterThanOrEqual(20)
  expect(counts.cut).toBeGreaterThanOrEqual(20)
  expect(counts.keptAsText).toBe(Object.keys(KEPT_AS_TEXT).length)
})
