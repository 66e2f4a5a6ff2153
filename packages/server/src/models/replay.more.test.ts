import type { ModelEvent } from '@countersign/core'
import { beforeAll, expect, test } from 'vitest'
import { openModel } from './open.ts'
import { callsOf, collect, isActionable, messagesOf, textOf } from './testing/collect.ts'
import { RAN_THERE, WITHHELD } from './testing/differences.ts'
import { modelFor, type Recording, recordings } from './testing/recordings.ts'
import { answerWith, startReplayServer } from './testing/replay-server.ts'
import { countCalls, historyProblems } from './testing/strict-history.ts'

const MINIMUMS = { 'openai-chat': 20, 'openai-responses': 20, 'anthropic-messages': 20, 'google-generateContent': 10 }
const MINIMUM_COMPATIBLE_VENDORS = 3

interface Replayed {
  recording: Recording
  spec: string
  events: ModelEvent[]
}

const replayed: Replayed[] = []

beforeAll(async () => {
  await using server = await startReplayServer()
  for (const recording of recordings(({ hasCalls }) => hasCalls)) {
    const { spec, settings } = modelFor(recording, server.play([answerWith(recording)]).baseUrl)
    const model = await openModel(spec, settings)
    replayed.push({ recording, spec, events: await collect(model) })
  }
})

test('every recorded call of every vendor is assembled as its own SDK assembled it', () => {
  const counts: Record<string, number> = {}
  const compatible = new Set<string>()
  for (const { recording, spec, events } of replayed) {
    const withheld = WITHHELD[recording.row]
    if (withheld) {
      expect(events.at(-1), recording.file).toMatchObject({ type: 'error', code: withheld.code })
      expect(callsOf(events), recording.file).toEqual([])
      continue
    }
    const ours = RAN_THERE[recording.row] ? [] : recording.expected.calls.filter((call) => !call.providerExecuted)
    expect(
      callsOf(events).map((call) => [call.name, call.argumentsText]),
      `${recording.id} ${recording.file}`,
    ).toEqual(ours.map((call) => [call.name, call.argumentsText]))
    if (ours.length === 0) continue
    counts[recording.api] = (counts[recording.api] ?? 0) + 1
    if (spec.startsWith('openai-compatible/')) compatible.add(recording.vendor)
  }
  console.log('recordings with calls replayed:', counts, 'compatible vendors:', [...compatible].join(', '))
  for (const [api, minimum] of Object.entries(MINIMUMS)) expect(counts[api], api).toBeGreaterThanOrEqual(minimum)
  expect(compatible.size).toBeGreaterThanOrEqual(MINIMUM_COMPATIBLE_VENDORS)
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(60)
})

test('every withheld recording is still there, so that the table of reasons cannot go stale', () => {
  const rows = new Set(replayed.map(({ recording }) => recording.row))
  expect([...Object.keys(WITHHELD), ...Object.keys(RAN_THERE)].filter((row) => !rows.has(row))).toEqual([])
})

test('the text of every answer that was recorded whole is the recorded text', () => {
  const whole = replayed.filter(({ events, recording }) => events.at(-1)?.type === 'finish' && recording.id === recording.row)
  for (const { recording, events } of whole) expect(textOf(events), recording.file).toBe(recording.expected.text)
  expect(whole.length).toBeGreaterThanOrEqual(80)
})

test('each call has a key of its own that its start had before, also where the provider repeats its ids', () => {
  for (const { recording, events } of replayed) {
    const started = events.flatMap((event) => (event.type === 'tool_call_start' ? [`${event.key} ${event.name}`] : []))
    expect(new Set(started).size, recording.file).toBe(started.length)
    for (const call of callsOf(events)) expect(started, recording.file).toContain(`${call.key} ${call.name}`)
  }
})

test('a provider’s own calls (web search, code execution, MCP) are nothing for us to run', () => {
  const own = replayed.filter(({ recording }) => recording.expected.calls.some((call) => call.providerExecuted))
  expect(own.length).toBeGreaterThanOrEqual(15)
  for (const { recording, events } of own) {
    const names = new Set(recording.expected.calls.filter((call) => !call.providerExecuted).map((call) => call.name))
    for (const call of callsOf(events)) expect(names, recording.file).toContain(call.name)
  }
})

test('every step ends with exactly one finish or error', () => {
  for (const { recording, events } of replayed) {
    const ends = events.filter((event) => event.type === 'finish' || event.type === 'error')
    expect(ends, recording.file).toHaveLength(1)
    expect(events.at(-1), recording.file).toBe(ends[0])
  }
})

test('what every recorded step leaves behind goes back to its provider as a history the strictest one takes', async () => {
  await using server = await startReplayServer()
  const counts: Record<string, number> = {}
  const refused: string[] = []
  for (const { recording, events } of replayed) {
    if (!isActionable(events)) continue
    const replay = server.play([answerWith({ ...recording, body: new Uint8Array() })])
    const { spec, settings } = modelFor(recording, replay.baseUrl)
    const model = await openModel(spec, settings)
    await collect(model, {
      messages: [{ role: 'user', content: 'Hello' }, ...messagesOf(events, spec), { role: 'user', content: 'Go on' }],
    })
    const sent = replay.requests[0]?.body
    const problems = historyProblems(recording.api, sent)
    if (problems.length > 0) refused.push(`${recording.id} ${recording.file}: ${problems.join('; ')}`)
    expect(countCalls(recording.api, sent), recording.file).toBe(callsOf(events).length)
    counts[recording.api] = (counts[recording.api] ?? 0) + 1
  }
  expect(refused).toEqual([])
  console.log('histories sent back:', counts)
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(60)
})

test('thinking signatures, thought signatures and encrypted reasoning go back verbatim', async () => {
  await using server = await startReplayServer()
  const counts: Record<string, number> = {}
  for (const recording of recordings()) {
    const signatures = signaturesOf(recording)
    if (signatures.length === 0) continue
    const replay = server.play([answerWith(recording), answerWith({ ...recording, body: new Uint8Array() })])
    const { spec, settings } = modelFor(recording, replay.baseUrl)
    const model = await openModel(spec, settings)
    const events = await collect(model)
    const end = events.at(-1)
    if (end?.type !== 'finish' || (end.reason !== 'stop' && end.reason !== 'tool_calls')) continue
    await collect(model, {
      messages: [{ role: 'user', content: 'Hello' }, ...messagesOf(events, spec), { role: 'user', content: 'Go on' }],
    })
    const sent = JSON.stringify(replay.requests[1]?.body)
    for (const signature of signatures) expect(sent, recording.file).toContain(signature)
    expect(historyProblems(recording.api, replay.requests[1]?.body), recording.file).toEqual([])
    counts[recording.api] = (counts[recording.api] ?? 0) + signatures.length
  }
  console.log('signatures sent back verbatim:', counts)
  for (const api of ['anthropic-messages', 'google-generateContent', 'openai-responses']) expect(counts[api], api).toBeGreaterThan(0)
})

/** Returns the signatures that the provider expects back, from the recorded bytes. */
function signaturesOf({ api, body }: Recording): string[] {
  const text = Buffer.from(body).toString('utf8')
  const patterns: Partial<Record<Recording['api'], RegExp>> = {
    'anthropic-messages': /"type":\s*"signature_delta",\s*"signature":\s*"([^"]+)"/g,
    'google-generateContent': /"thoughtSignature":\s*"([^"]+)"/g,
    'openai-responses': /"type":"response\.output_item\.done".*?"encrypted_content":"([^"]+)"/g,
  }
  const pattern = patterns[api]
  return pattern ? [...text.matchAll(pattern)].flatMap(([, signature]) => (signature ? [signature] : [])) : []
}
