import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { collect } from './testing/collect.ts'
import { modelFor } from './testing/recordings.ts'
import { RECORDED_REFUSALS, readRefusal } from './testing/refusals.ts'
import { answerWith, startReplayServer } from './testing/replay-server.ts'

test('each recorded refusal is what it is about, in words that its provider used', async () => {
  await using server = await startReplayServer()
  const found: object[] = []
  const retries: Record<string, number> = {}
  for (const { file, api } of RECORDED_REFUSALS) {
    const { status, headers, body } = readRefusal(file)
    const { 'content-type': contentType = 'application/json', ...rest } = lowered(headers)
    const passedOn = Object.fromEntries(Object.entries(rest).filter(([name]) => name.startsWith('retry-after')))
    const replay = server.play([{ ...answerWith({ status, contentType, body }), headers: passedOn }])
    const { spec, settings } = modelFor({ api, vendor: 'Some vendor', model: 'm' }, replay.baseUrl)
    const [event, ...more] = await collect(await openModel(spec, settings))
    expect(more, file).toEqual([])
    expect(replay.requests, file).toHaveLength(1)
    if (event?.type !== 'error') throw new Error(`${file} is no error`)
    found.push({ file, api, code: event.code, retryable: event.retryable })
    if (event.retryAfterMs !== undefined) retries[file.split('/').at(-1) ?? ''] = event.retryAfterMs
    // "Bad Request" alone does not say what to do.
    expect(event.message, file).toMatch(/key|quota|token|length|context|prompt|limit|auth|header|message|invalid|found|access denied/i)
  }
  expect(found).toEqual(RECORDED_REFUSALS)
  expect(retries).toEqual({
    'chat_real_error_scenarios_azure_grok-4-1-fast-non-reasoning_handles_context_length_exceeded_errors.yml': 1_000,
    'chat_real_error_scenarios_gemini_gemini-2_5-flash_handles_context_length_exceeded_errors.yml': 48_000,
    'google-429-retry-info.json': 34_400,
  })
})

const lowered = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
