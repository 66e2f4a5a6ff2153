import type { SessionEvent } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RAN_THERE, WITHHELD } from '../models/testing/differences.ts'
import { type RecordedApi, type Recording, recordings } from '../models/testing/recordings.ts'
import { answerWith, type ReplayAnswer } from '../models/testing/replay-server.ts'
import { speak } from '../models/testing/speak.ts'
import { countCalls, historyProblems } from '../models/testing/strict-history.ts'
import { type Desk, openDesk } from './desk.ts'

/** Calls that do not become actions although the recording has them whole: the row and why. The model is told, and the run goes on. */
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
}, 60_000)

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

const closing = (api: RecordedApi): ReplayAnswer => speak(api, { text: 'All right.' })

test('every recorded call becomes an action of the same tool and arguments, and a declined one goes back as a history its provider takes', async () => {
  const counts: Record<string, number> = {}
  const compatible = new Set<string>()
  let actionCount = 0
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
    ).toEqual(refused ? [] : calls.map(asAction))
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
      ).toEqual(calls.map(() => 'write proposed'))
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
}, 60_000)
