import { readFileSync } from 'node:fs'
import type { JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { openModel } from './open.ts'
import { collect, messagesOf } from './testing/collect.ts'
import { modelFor, type Recording, recordings } from './testing/recordings.ts'
import { answerWith, type Replay, startReplayServer } from './testing/replay-server.ts'
import { speak } from './testing/speak.ts'

interface SentMessage {
  role: string
  tool_calls?: { id: string }[]
  tool_call_id?: string
  reasoning_details?: JsonObject[]
}

const sentBy = (replay: Replay): SentMessage[] => (replay.requests.at(-1)?.body as { messages: SentMessage[] } | undefined)?.messages ?? []
const answered = (replay: Replay) => sentBy(replay).find(({ role }) => role === 'assistant')

/** Returns the request to the gateway that follows this answer. */
async function sentAfter(recording: Pick<Recording, 'status' | 'contentType' | 'body'>): Promise<SentMessage[]> {
  await using server = await startReplayServer()
  const replay = server.play([answerWith(recording), speak('openai-chat', { text: 'Done.' })])
  const { spec, settings } = modelFor({ api: 'openai-chat', vendor: 'OpenRouter', model: 'm' }, replay.baseUrl)
  const model = await openModel(spec, settings)
  const events = await collect(model)
  expect(events.at(-1)).toMatchObject({ type: 'finish' })
  await collect(model, { messages: [{ role: 'user', content: 'Hello' }, ...messagesOf(events, spec), { role: 'user', content: 'Go on' }] })
  return sentBy(replay)
}

const detailsAfter = async (deltas: readonly object[]): Promise<JsonObject[] | undefined> =>
  (await sentAfter(streamOf(deltas))).find(({ role }) => role === 'assistant')?.reasoning_details

function streamOf(deltas: readonly object[]): Pick<Recording, 'status' | 'contentType' | 'body'> {
  const chunks = [
    ...deltas.map((delta) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })),
    { id: 'c', choices: [{ index: 0, delta: { content: 'Well.' }, finish_reason: null }] },
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  const text = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
  return { status: 200, contentType: 'text/event-stream', body: Buffer.from(text) }
}

const fragments = (...details: readonly JsonObject[]) => details.map((detail) => ({ reasoning_details: [detail] }))

test('every recorded stream with reasoning_details gets its signed reasoning back, joined, in the next request', async () => {
  const signed = recordings(({ api }) => api === 'openai-chat').filter(({ body }) => Buffer.from(body).includes('"reasoning_details"'))
  expect(signed.length).toBeGreaterThanOrEqual(2)
  for (const recording of signed) {
    const text = Buffer.from(recording.body).toString('utf8')
    const thought = [...text.matchAll(/"type":"reasoning\.text","text":("(?:[^"\\]|\\.)*")/g)].map(([, word]) => JSON.parse(word ?? '""'))
    const signatures = [...text.matchAll(/"signature":"([^"]+)"/g)].map(([, signature]) => signature)
    expect(signatures, recording.file).toHaveLength(1)
    const sent = (await sentAfter(recording)).find(({ role }) => role === 'assistant')
    expect(sent?.reasoning_details, recording.file).toEqual([
      { type: 'reasoning.text', text: thought.join(''), signature: signatures[0], format: 'anthropic-claude-v1', index: 0 },
    ])
  }
})

test('the reasoning that goes back is the one that the gateway took when the conversation was recorded', async () => {
  const name = 'chat_openrouter_reasoning_details_round-trip_accumulates_reasoning_details_while_streaming_tool_calls.yml'
  const [recording] = recordings(({ file }) => file.endsWith(name))
  if (!recording) throw new Error('the recording is not there')
  const file = new URL(`../../../../../shared/fixtures/${recording.file}`, import.meta.url)
  const { http_interactions } = parse(readFileSync(file, 'utf8'), { logLevel: 'error' }) as {
    http_interactions: { request: { body: { string: string } } }[]
  }
  const { messages } = JSON.parse(http_interactions[1]?.request.body.string ?? '') as { messages: SentMessage[] }
  const taken = messages.find(({ role }) => role === 'assistant')?.reasoning_details
  expect(taken).toHaveLength(1)
  expect((await sentAfter(recording)).find(({ role }) => role === 'assistant')?.reasoning_details).toEqual(taken)
})

test('text, summary and signature go back whole, however the gateway cut them', async () => {
  const piece = fc.string({ minLength: 1, maxLength: 8 })
  const kind = fc.constantFrom(['reasoning.text', 'text'] as const, ['reasoning.summary', 'summary'] as const)
  const block = fc.record({ kind, pieces: fc.array(piece, { minLength: 1, maxLength: 5 }), signature: fc.array(piece, { maxLength: 3 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 4 }), async (blocks) => {
      const deltas = blocks.flatMap(({ kind: [type, member], pieces, signature }, index) =>
        fragments(
          ...pieces.map((text): JsonObject => ({ type, [member]: text, signature: null, format: 'f', index })),
          ...signature.map((text): JsonObject => ({ type, signature: text, format: 'f', index })),
        ),
      )
      expect(await detailsAfter(deltas)).toEqual(
        blocks.map(({ kind: [type, member], pieces, signature }, index) => ({
          type,
          [member]: pieces.join(''),
          signature: signature.length > 0 ? signature.join('') : null,
          format: 'f',
          index,
        })),
      )
    }),
    { numRuns: 40, seed: 1 },
  )
})

test('encrypted reasoning is never joined: each piece goes back as it came', async () => {
  const details: JsonObject[] = [
    { type: 'reasoning.summary', summary: 'I look', format: 'openai-responses-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'YWJj', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'ZGVm', id: 'rs_2', format: 'openai-responses-v1', index: 0 },
    { type: 'of.tomorrow', value: { deep: [1, null] }, index: 0 },
  ]
  expect(await detailsAfter(fragments(...details))).toEqual(details)
})

test('text after a signature begins a reasoning of its own: what was signed stays as it was', async () => {
  const first = { type: 'reasoning.text', text: 'One', signature: 'c2lnbmVk', index: 0 }
  const second = { type: 'reasoning.text', text: 'Two', signature: 'YW5vdGhlcg==', index: 0 }
  expect(await detailsAfter(fragments(first, second))).toEqual([first, second])
})

test('pieces without an index belong to the piece before them', async () => {
  const pieces = fragments({ type: 'reasoning.text', text: 'On' }, { type: 'reasoning.text', text: 'e', signature: 'c2lnbmVk' })
  expect(await detailsAfter(pieces)).toEqual([{ type: 'reasoning.text', text: 'One', signature: 'c2lnbmVk' }])
})

test('what is no list of objects is left out, and the answer is used', async () => {
  for (const odd of [null, 'text', {}, [], [null, 1, 'x', []]]) expect(await detailsAfter([{ reasoning_details: odd }])).toBeUndefined()
})

test('a reasoning that names a call names it by the id that the call is sent back with', async () => {
  const call = (index: number) => ({
    index,
    id: `tool_${index}_refund`,
    type: 'function',
    function: { name: 'refund', arguments: `{"order":${index}}` },
  })
  const detail = { type: 'reasoning.encrypted', data: 'c2lnbmVk', format: 'google-gemini-v1', index: 0 }
  const stream = streamOf([{ tool_calls: [call(0), call(1)], reasoning_details: [{ ...detail, id: 'tool_1_refund' }] }])
  const sent = await sentAfter(stream)
  const assistant = sent.find(({ role }) => role === 'assistant')
  const [, second] = assistant?.tool_calls ?? []
  expect(assistant?.reasoning_details).toEqual([{ ...detail, id: second?.id }])
  expect(sent.filter(({ tool_call_id }) => tool_call_id === second?.id)).toHaveLength(1)
})

test('an answer that was changed since, or is another model’s, goes out without its signed reasoning', async () => {
  await using server = await startReplayServer()
  const replay = server.play([
    speak('openai-chat', { text: 'A secret', signature: 'c2lnbmVk' }),
    speak('openai-chat', { text: 'x' }),
    speak('openai-chat', { text: 'x' }),
    speak('openai-chat', { text: 'x' }),
  ])
  const { spec, settings } = modelFor({ api: 'openai-chat', vendor: 'OpenRouter', model: 'm' }, replay.baseUrl)
  const model = await openModel(spec, settings)
  const [message] = messagesOf(await collect(model), spec)
  if (message?.role !== 'assistant') throw new Error('there is no answer')
  const send = async (answer: typeof message) => {
    await collect(model, { messages: [{ role: 'user', content: 'Hello' }, answer, { role: 'user', content: 'Go on' }] })
    return answered(replay)?.reasoning_details
  }
  expect(await send(message)).toMatchObject([{ signature: 'c2lnbmVk' }])
  expect(await send({ ...message, content: '[removed]' })).toBeUndefined()
  expect(await send({ ...message, model: 'openai-compatible/another' })).toBeUndefined()
})
