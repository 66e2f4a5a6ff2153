import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelMessage } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { loadScript } from './script-file.ts'
import { scriptedModel } from './scripted.ts'
import { callsOf, collect, messagesOf, textOf } from './testing/collect.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })

const STEPS = [
  {
    expect: { lastUser: 'refund' },
    reasoning: 'Let me see.',
    text: 'I will refund it.',
    calls: [{ tool: 'refund', arguments: { orderId: 'ORD-001' } }],
  },
  { expect: { lastToolResult: '"ok":true' }, text: 'Done.' },
]

test('a script is played step by step, text word by word, and is done at its end', async () => {
  const model = scriptedModel({ id: 'scripted/refund', steps: STEPS })
  const messages = [user('Please refund ORD-001')]
  const first = await collect(model, { messages: [...messages] })
  expect(first).toEqual([
    { type: 'reasoning', delta: 'Let ' },
    { type: 'reasoning', delta: 'me ' },
    { type: 'reasoning', delta: 'see.' },
    { type: 'text', delta: 'I ' },
    { type: 'text', delta: 'will ' },
    { type: 'text', delta: 'refund ' },
    { type: 'text', delta: 'it.' },
    { type: 'tool_call_start', key: 'call-1', name: 'refund' },
    { type: 'tool_call', key: 'call-1', name: 'refund', argumentsText: '{"orderId":"ORD-001"}' },
    { type: 'finish', reason: 'tool_calls' },
  ])
  expect(() => model.assertDone()).toThrow('never asked for: 2')
  messages.push(...messagesOf(first, model.id))
  expect(textOf(await collect(model, { messages }))).toBe('Done.')
  model.assertDone()
})

test('a new model of the same script goes on where the history is: a restart loses nothing', async () => {
  const first = await collect(scriptedModel({ id: 'scripted/refund', steps: STEPS }), { messages: [user('refund')] })
  const messages = [user('refund'), ...messagesOf(first, 'scripted/refund')]
  expect(textOf(await collect(scriptedModel({ id: 'scripted/refund', steps: STEPS }), { messages }))).toBe('Done.')
})

test('a request that does not fit the step, or is past the last one, is an error that says so', async () => {
  const model = scriptedModel({
    id: 'scripted/refund',
    steps: [{ expect: { lastUser: '/^refund ORD-\\d+$/i', lastToolResult: 'x' }, text: 'Fine.' }],
  })
  expect(await collect(model, { messages: [user('hello')] })).toMatchObject([
    { type: 'error', code: 'model_error', message: expect.stringContaining('the last user message') },
  ])
  expect(await collect(model, { messages: [user('Refund ORD-001')] })).toMatchObject([
    { message: expect.stringContaining('the last tool result') },
  ])
  const past: ModelMessage[] = [user('a'), { role: 'assistant', content: 'b', toolCalls: [] }, user('c')]
  expect(await collect(model, { messages: past })).toMatchObject([{ type: 'error', message: expect.stringContaining('asked for step 2') }])
})

test('a scripted reply is a function of the request', async () => {
  const model = scriptedModel({ id: 'scripted/echo', reply: ({ messages }) => ({ text: `${messages.length} messages` }) })
  expect(textOf(await collect(model))).toBe('1 messages')
  model.assertDone()
})

test('a script can fail, stop short and send broken arguments', async () => {
  const steps = [
    { text: 'So', error: 'out of words' },
    { calls: [{ tool: 'refund', arguments: '{"orderId":' }], finish: 'length' as const },
    { text: 'So', finish: 'none' as const },
    { error: { code: 'model_rate_limited' as const, message: 'wait', retryable: true } },
  ]
  const model = scriptedModel({ id: 'scripted/bad', steps })
  const past = (count: number): ModelMessage[] => Array.from({ length: count }, () => ({ role: 'assistant', content: 'x', toolCalls: [] }))
  expect((await collect(model, { messages: past(0) })).at(-1)).toMatchObject({
    type: 'error',
    code: 'model_error',
    message: 'out of words',
  })
  const cut = await collect(model, { messages: past(1) })
  expect(callsOf(cut)).toMatchObject([{ argumentsText: '{"orderId":' }])
  expect(cut.at(-1)).toEqual({ type: 'finish', reason: 'length' })
  expect(await collect(model, { messages: past(2) })).toEqual([{ type: 'text', delta: 'So' }])
  expect(await collect(model, { messages: past(3) })).toEqual([
    { type: 'error', code: 'model_rate_limited', message: 'wait', retryable: true },
  ])
})

test('a cancelled script ends with an error', async () => {
  const abort = new AbortController()
  const model = scriptedModel({ id: 'scripted/slow', steps: [{ text: 'one two three', chunkDelayMs: 60_000 }] })
  const events = collect(model, { signal: abort.signal })
  abort.abort()
  expect((await events).at(-1)).toMatchObject({ type: 'error' })
})

test('scripts are read from YAML, JSON and modules', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'script-'))
  await writeFile(
    join(directory, 'a.yaml'),
    'steps:\n  - expect: { lastUser: Hello }\n    text: Hi there\n    calls: [{ tool: refund, arguments: { n: 1 } }]\n',
  )
  await writeFile(join(directory, 'a.json'), JSON.stringify({ steps: [{ text: 'Hi there' }] }))
  await writeFile(join(directory, 'a.mjs'), 'export default { reply: () => ({ text: "Hi there" }) }')
  await writeFile(join(directory, 'a.ts'), 'const text: string = "Hi there"\nexport default { steps: [{ text }] }')
  for (const file of ['a.yaml', 'a.json', 'a.mjs', 'a.ts']) {
    const model = await openModel(`scripted/${file}`, { scriptDirectory: directory })
    expect(textOf(await collect(model)), file).toBe('Hi there')
    expect(model.id).toBe(`scripted/${file}`)
  }
  expect(await loadScript(join(directory, 'a.yaml'))).toMatchObject({ steps: [{ calls: [{ tool: 'refund', arguments: { n: 1 } }] }] })
})

test('a bad script is refused in plain words when it is opened', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'script-'))
  await writeFile(join(directory, 'typo.yaml'), 'steps:\n  - txt: Hi\n')
  await writeFile(join(directory, 'syntax.yaml'), 'steps: [')
  await writeFile(join(directory, 'nothing.mjs'), 'export const x = 1')
  const open = (file: string) => openModel(`scripted/${file}`, { scriptDirectory: directory })
  await expect(open('typo.yaml')).rejects.toThrow('is not valid')
  await expect(open('typo.yaml')).rejects.toThrow('txt')
  await expect(open('syntax.yaml')).rejects.toThrow('cannot be read')
  await expect(open('nothing.mjs')).rejects.toThrow('is not valid')
  await expect(open('absent.yaml')).rejects.toThrow('cannot be read')
  await expect(open('script.txt')).rejects.toThrow('neither a module')
})
