import type { ModelMessage, ToolOutcome } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { collect } from './testing/collect.ts'
import { modelFor, type RecordedApi } from './testing/recordings.ts'
import { startReplayServer } from './testing/replay-server.ts'
import { speak } from './testing/speak.ts'
import { historyProblems } from './testing/strict-history.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = (data = PIXEL) => ({ type: 'image', mimeType: 'image/png', data })
const output = (...media: { type: string; mimeType: string; data: string; name?: string }[]): ToolOutcome => ({
  type: 'output',
  value: { content: 'Taken.', media },
})

/** A conversation in which the model called `look` once for each outcome, all in one step. */
const conversation = (...outcomes: ToolOutcome[]): ModelMessage[] => [
  { role: 'user', content: 'Look' },
  {
    role: 'assistant',
    content: '',
    toolCalls: outcomes.map((_, at) => ({ id: `call${String(at).padStart(5, '0')}`, name: 'look', arguments: {} })),
  },
  ...outcomes.map(
    (outcome, at): ModelMessage => ({ role: 'tool', toolCallId: `call${String(at).padStart(5, '0')}`, toolName: 'look', outcome }),
  ),
]

/** Returns the request to the provider for a history, as JSON. */
async function sent(api: RecordedApi, vendor: string, messages: ModelMessage[], name = 'm', pictures = false) {
  await using server = await startReplayServer()
  const replay = server.play([speak(api, { text: 'Done.' })])
  const { spec, settings } = modelFor({ api, vendor, model: name }, replay.baseUrl)
  const model = await openModel(spec, pictures ? { ...settings, openaiCompatible: { ...settings.openaiCompatible, pictures } } : settings)
  await collect(model, { instructions: 'You look.', messages, tools: [] })
  // biome-ignore lint/suspicious/noExplicitAny: the request is inspected at any depth
  const body = replay.requests.at(-1)?.body as any
  return { body, text: JSON.stringify(body).replaceAll('\\"', '"') }
}

const count = (text: string, part: string) => text.split(part).length - 1

test('OpenAI is given a picture and a PDF in the result of the call', async () => {
  const pdf = { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=', name: 'file:///tmp/a.pdf' }
  const { body, text } = await sent('openai-responses', 'OpenAI', conversation(output(image(), pdf)))
  expect(historyProblems('openai-responses', body)).toEqual([])
  const result = body.input.find((item: { type: string }) => item.type === 'function_call_output')
  expect(result.output).toEqual([
    { type: 'input_text', text: expect.stringContaining('"content":"Taken."') },
    { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
  ])
  expect(count(text, PIXEL)).toBe(1)
})

test('Anthropic is given a picture in the result of the call, also of one that a person edited', async () => {
  const edited: ToolOutcome = {
    type: 'edited',
    argumentsRun: { page: 2 },
    by: 'Ana',
    outcome: { type: 'output', value: { media: [image()] } },
  }
  const { body, text } = await sent('anthropic-messages', 'Anthropic', conversation(output(image()), edited))
  expect(historyProblems('anthropic-messages', body)).toEqual([])
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }
  const results = body.messages.at(-1).content
  expect(results.map(({ content }: { content: unknown[] }) => content[1])).toEqual([picture, picture])
  expect(text).toContain('"arguments_run":{"page":2}')
})

test('Gemini is given a picture beside the result of the call, and a sound after it', async () => {
  const sound = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' }
  const { body, text } = await sent('google-generateContent', 'Google', conversation(output(image(), sound)), 'gemini-3-pro-preview')
  const parts = body.contents.flatMap((content: { parts: object[] }) => content.parts)
  expect(parts).toContainEqual({
    functionResponse: expect.objectContaining({ parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL } }] }),
  })
  expect(parts).toContainEqual({ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } })
  expect(text).toContain('[Not from the person: what look returned]')
})

test('Chat Completions has them after all results of the step', async () => {
  const messages = conversation(output(image()), { type: 'output', value: 'dark' })
  const { body, text } = await sent('openai-chat', 'OpenAI', messages)
  expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user'])
  expect(body.messages.at(-1).content).toEqual([
    { type: 'text', text: '[Not from the person: what look returned]' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ])
  expect(count(text, PIXEL)).toBe(1)
})

test('an OpenAI-compatible model is told of a picture, and given it where the configuration says that it takes pictures', async () => {
  const told = await sent('openai-chat', 'Mistral', conversation(output(image())))
  expect(historyProblems('openai-chat', told.body)).toEqual([])
  expect(told.text).not.toContain(PIXEL)
  expect(told.text).toContain('"note":"this model is not given image/png"')
  const given = await sent('openai-chat', 'Mistral', conversation(output(image())), 'm', true)
  expect(count(given.text, PIXEL)).toBe(1)
})

test('of a kind that a provider does not take it is told the size, never the data', async () => {
  const other = { type: 'file', mimeType: 'application/zip', data: 'UEsDBBQ=' }
  for (const [api, vendor] of [
    ['openai-responses', 'OpenAI'],
    ['anthropic-messages', 'Anthropic'],
    ['google-generateContent', 'Google'],
    ['openai-chat', 'OpenAI'],
  ] as const) {
    const { text } = await sent(api, vendor, conversation(output(other)))
    expect(text).not.toContain('UEsDBBQ')
    expect(text).toContain('"mimeType":"application/zip","bytes":5,"note":"this model is not given application/zip"')
  }
})

test('of a long history the newest 20 pictures are sent, of the others the model is told', async () => {
  const many = Array.from({ length: 25 }, (_, at) => output(image(`${PIXEL.slice(0, -6)}${String(at).padStart(4, '0')}`)))
  const { text } = await sent('anthropic-messages', 'Anthropic', conversation(...many))
  expect(count(text, 'data":"iVBO')).toBe(20)
  expect(count(text, 'left out here: newer ones take its room')).toBe(5)
  expect(text).toContain(`${PIXEL.slice(0, -6)}0024`)
  expect(text).not.toContain(`${PIXEL.slice(0, -6)}0004`)
})
