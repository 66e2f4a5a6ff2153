import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { collect } from './testing/collect.ts'
import { startReplayServer } from './testing/replay-server.ts'
import { speak } from './testing/speak.ts'

test('a missing key or address is refused when the model is opened, naming the variable to set', async () => {
  await expect(openModel('openai/gpt-5-mini', {})).rejects.toThrow('OPENAI_API_KEY')
  await expect(openModel('openai-chat/gpt-5-mini', { openai: { baseUrl: 'http://127.0.0.1:1' } })).rejects.toThrow('OPENAI_API_KEY')
  await expect(openModel('anthropic/claude', { anthropic: { apiKey: '' } })).rejects.toThrow('ANTHROPIC_API_KEY')
  await expect(openModel('google/gemini', {})).rejects.toThrow('GOOGLE_GENERATIVE_AI_API_KEY')
  await expect(openModel('openai-compatible/qwen', {})).rejects.toThrow('OPENAI_COMPATIBLE_BASE_URL')
  await expect(openModel('openai-compatible/qwen', { openaiCompatible: { baseUrl: 'ftp://host' } })).rejects.toThrow('http or https')
})

test('an unknown provider is refused with the known ones', async () => {
  for (const spec of ['mistral/large', 'gpt-5', '', 'toString/x', '/x']) {
    await expect(openModel(spec, {})).rejects.toThrow(
      'known are openai, openai-chat, anthropic, google, openai-compatible, remote, scripted',
    )
  }
})

test('a provider without a model is refused', async () => {
  await expect(openModel('openai/', { openai: { apiKey: 'k' } })).rejects.toThrow('openai/<model>')
  await expect(openModel('remote', {})).rejects.toThrow('remote/<url>')
})

test('a remote brain needs an http address without a password in it', async () => {
  await expect(openModel('remote/brain', {})).rejects.toThrow('http or https')
  await expect(openModel('remote/https://me:secret@brain.example/chat', {})).rejects.toThrow(/^(?!.*secret).*takes no name or password/)
  await expect(openModel('remote/ftp://me:secret@brain.example', {})).rejects.toThrow(/^(?!.*secret).*http or https/)
  // The id is shown, but the part after the path may be a token.
  expect((await openModel('remote/https://brain.example/chat?token=secret', {})).id).toBe('remote/https://brain.example/chat')
})

test('each provider is asked at its address, with its key, in its protocol', async () => {
  await using server = await startReplayServer()
  const ask = async (spec: string, api: Parameters<typeof speak>[0], settings: (baseUrl: string) => Parameters<typeof openModel>[1]) => {
    const replay = server.play([speak(api, { text: 'Hello' })])
    const model = await openModel(spec, settings(replay.baseUrl))
    expect(model.id).toBe(spec)
    expect((await collect(model)).map((event) => event.type)).toEqual(['text', 'finish'])
    return replay.requests[0]
  }
  const responses = await ask('openai/gpt-5-mini', 'openai-responses', (baseUrl) => ({ openai: { baseUrl, apiKey: 'k1' } }))
  expect(responses).toMatchObject({
    path: '/responses',
    headers: { authorization: 'Bearer k1' },
    body: { model: 'gpt-5-mini', store: false },
  })
  expect(responses?.body).toMatchObject({ include: ['reasoning.encrypted_content'] })

  const chat = await ask('openai-chat/gpt-5-mini', 'openai-chat', (baseUrl) => ({ openai: { baseUrl, apiKey: 'k2' } }))
  expect(chat).toMatchObject({ path: '/chat/completions', headers: { authorization: 'Bearer k2' }, body: { stream: true } })

  const anthropic = await ask('anthropic/claude-sonnet-4-5', 'anthropic-messages', (baseUrl) => ({ anthropic: { baseUrl, apiKey: 'k3' } }))
  expect(anthropic).toMatchObject({ path: '/messages', headers: { 'x-api-key': 'k3' }, body: { model: 'claude-sonnet-4-5' } })

  const google = await ask('google/gemini-flash-latest', 'google-generateContent', (baseUrl) => ({ google: { baseUrl, apiKey: 'k4' } }))
  expect(google).toMatchObject({ path: '/models/gemini-flash-latest:streamGenerateContent?alt=sse', headers: { 'x-goog-api-key': 'k4' } })

  const compatible = await ask('openai-compatible/org/qwen-3', 'openai-chat', (baseUrl) => ({
    openaiCompatible: { baseUrl, apiKey: 'k5' },
  }))
  expect(compatible).toMatchObject({ path: '/chat/completions', headers: { authorization: 'Bearer k5' }, body: { model: 'org/qwen-3' } })
  const open = await ask('openai-compatible/qwen-3', 'openai-chat', (baseUrl) => ({ openaiCompatible: { baseUrl } }))
  expect(open?.headers.authorization).toBeUndefined()
})
