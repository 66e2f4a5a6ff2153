import type { ModelEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { ask, call, chunk, sse, TEXT } from './testing/ask.ts'
import { callsOf, collect, isActionable } from './testing/collect.ts'
import { modelFor, recordings } from './testing/recordings.ts'
import { answerWith, startReplayServer } from './testing/replay-server.ts'
import { speak } from './testing/speak.ts'

test('a recording cut at any byte never makes a call with arguments other than the whole ones', async () => {
  const wanted = new Set(['L0010'])
  const all = recordings(({ hasCalls, id }) => hasCalls && !wanted.has(id)).filter((each) =>
    each.expected.calls.some((made) => !made.providerExecuted),
  )
  const byApi = Map.groupBy(all, (each) => each.api)
  await using server = await startReplayServer()
  let cuts = 0
  let actionable = 0
  for (const [, group] of byApi) {
    // The shortest, the longest and two in between: within an API, the framing is the same for every vendor.
    const sorted = group.toSorted((a, b) => a.body.length - b.body.length)
    const some = new Set([0, 0.4, 0.7, 0.95].map((share) => sorted[Math.floor(share * sorted.length)]))
    for (const recording of some) {
      if (!recording) continue
      const whole = recording.expected.calls.map((made) => `${made.name} ${made.argumentsText}`)
      const positions = Array.from({ length: 8 }, (_, index) => Math.floor((recording.body.length * (index + 0.5)) / 8))
      for (const position of [...positions, recording.body.length - 1]) {
        for (const ending of ['end', 'reset'] as const) {
          const answer = { ...answerWith({ ...recording, body: recording.body.subarray(0, position) }), ending }
          const { spec, settings } = modelFor(recording, server.play([answer]).baseUrl)
          const events = await collect(await openModel(spec, settings))
          cuts++
          for (const made of callsOf(events))
            expect(whole, `${recording.file} at ${position}`).toContain(`${made.name} ${made.argumentsText}`)
          if (isActionable(events)) actionable++
          if (ending === 'reset') expect(events.at(-1), `${recording.file} reset at ${position}`).toMatchObject({ type: 'error' })
        }
      }
    }
  }
  console.log(`cuts: ${cuts}, of which ended whole (cut behind the finish): ${actionable}`)
  expect(cuts).toBeGreaterThan(250)
  expect(actionable).toBeLessThan(cuts / 10)
})

test('arguments that end with the connection are no call', async () => {
  const body = sse(chunk(call(0, '{"amount": 10', 'refund', 'a')), chunk(call(0, '0}')))
  expect(await ask('openai-chat', body)).toMatchObject([
    { type: 'tool_call_start', name: 'refund' },
    { type: 'error', code: 'model_broken_stream' },
  ])
})

test('a call that goes on after the finish of another is no call until the answer is closed', async () => {
  const first = [chunk(call(0, '{}', 'read', 'a')), chunk({}, 'tool_calls')]
  const second = chunk(call(0, '{"all":', 'erase', 'b'))
  const broken = await ask('openai-chat', sse(...first, second))
  expect(callsOf(broken)).toEqual([])
  expect(broken.at(-1)).toMatchObject({ type: 'error', code: 'model_broken_stream' })

  const closed = await ask('openai-chat', sse(...first, second, chunk(call(0, 'true}')), '[DONE]'))
  expect(callsOf(closed)).toMatchObject([
    { name: 'read', argumentsText: '{}' },
    { name: 'erase', argumentsText: '{"all":true}' },
  ])
})

test('arguments that cannot be told which call they belong to are not dropped: the step is a broken stream', async () => {
  const fragment = (text: string) => chunk({ tool_calls: [{ function: { arguments: text } }] })
  const body = sse(chunk(call(0, '', 'erase', 'a')), chunk(call(1, '', 'erase', 'b')), fragment('{"all":true}'), chunk({}, 'tool_calls'))
  for (const vendor of ['OpenAI', 'Some vendor']) {
    const events = await ask('openai-chat', body, { vendor })
    expect(callsOf(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'model_broken_stream' })
  }
})

for (const vendor of ['OpenAI', 'Some vendor']) {
  const ended = (...chunks: object[]) => ask('openai-chat', sse(...chunks, '[DONE]'), { vendor })

  test(`${vendor}: an answer closed without a finish reason is judged by what it holds, with a note`, async () => {
    const note = expect.stringContaining('did not say why it ended')
    const calls = await ended(chunk({ content: 'I will.' }), chunk(call(0, '{"amount":', 'refund', 'a')), chunk(call(0, '100}')))
    expect(callsOf(calls)).toMatchObject([{ name: 'refund', argumentsText: '{"amount":100}' }])
    expect(calls.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls', note })
    expect((await ended(chunk({ content: 'Done.' }))).at(-1)).toMatchObject({ type: 'finish', reason: 'stop', note })
    expect((await ended(chunk({ content: 'Done.' }, ''))).at(-1)).toMatchObject({ type: 'finish', reason: 'stop', note })
  })

  test(`${vendor}: an answer closed without a finish reason has no call unless the arguments of all are a whole object`, async () => {
    for (const text of ['{"amount": 10', '', '100', 'null', '"all"', '[1]', '{"amount":1}}']) {
      const events = await ended(chunk(call(0, '{}', 'look', 'a')), chunk(call(1, text, 'refund', 'b')))
      expect(callsOf(events), text).toEqual([])
      expect(events.at(-1), text).toMatchObject({ type: 'error', code: 'model_broken_stream' })
    }
  })

  test(`${vendor}: an answer that holds nothing, or is not closed, is a broken stream without its finish reason`, async () => {
    expect((await ended(chunk({ role: 'assistant' }))).at(-1)).toMatchObject({ type: 'error', code: 'model_broken_stream' })
    const open = await ask('openai-chat', sse(chunk(call(0, '{}', 'refund', 'a'))), { vendor })
    expect(callsOf(open)).toEqual([])
    expect(open.at(-1)).not.toMatchObject({ type: 'finish', reason: 'stop' })
    const half = await ask('openai-chat', sse(chunk({ content: 'I will' })), { vendor })
    expect(half.at(-1)).not.toMatchObject({ type: 'finish', reason: 'stop' })
  })

  test(`${vendor}: an error before an end without a finish reason stays an error`, async () => {
    const events = await ended(chunk(call(0, '{}', 'refund', 'a')), { error: { message: 'Upstream error', code: 502 } })
    expect(callsOf(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining('Upstream error') })
  })

  test(`${vendor}: a finish reason is no note`, async () => {
    expect((await ended(chunk({ content: 'Done.' }), chunk({}, 'stop'))).at(-1)).not.toHaveProperty('note')
  })
}

test('an answer cut off by its length is a finish with length and has no calls', async () => {
  const body = sse(chunk(call(0, '{"amount": 10', 'refund', 'a')), chunk({}, 'length'), '[DONE]')
  expect((await ask('openai-chat', body)).at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
  expect(callsOf(await ask('openai-chat', body))).toEqual([])
})

for (const incomplete of ['max_output_tokens', 'content_filter']) {
  test(`OpenAI Responses: an answer that ended with ${incomplete} stays incomplete behind a gateway that closes it with [DONE]`, async () => {
    const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [], usage: { input_tokens: 1, output_tokens: 1 } }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
    const said = { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'refund', arguments: '{"amount":100}', status: 'completed' }
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress' } },
      { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', content_index: 0, delta: 'I will' },
      { type: 'response.output_item.done', output_index: 0, item: { ...message, status: 'incomplete' } },
      { type: 'response.output_item.added', output_index: 1, item: { ...said, arguments: '', status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 1, item: said },
      { type: 'response.incomplete', response: { ...response, status: 'incomplete', incomplete_details: { reason: incomplete } } },
    ].map((event, sequence_number) => ({ ...event, sequence_number }))
    const answer = await ask('openai-responses', sse(...events, '[DONE]'))
    expect(callsOf(answer)).toEqual([])
    expect(answer.at(-1)).toMatchObject({ type: 'finish', reason: incomplete === 'content_filter' ? 'content_filter' : 'length' })
  })
}

test('only Chat Completions ends with [DONE]: behind a gateway that adds it, an answer of another API needs no note', async () => {
  await using server = await startReplayServer()
  for (const api of ['openai-responses', 'anthropic-messages', 'google-generateContent'] as const) {
    const { chunks, ...answer } = speak(api, { text: 'Done.' })
    const { spec, settings } = modelFor(
      { api, vendor: 'OpenAI', model: 'm' },
      server.play([{ ...answer, chunks: [...(chunks as Iterable<Uint8Array>), sse('[DONE]')] }]).baseUrl,
    )
    const end = (await collect(await openModel(spec, settings))).at(-1)
    expect(end, api).toMatchObject({ type: 'finish', reason: 'stop' })
    expect(end, api).not.toHaveProperty('note')
  }
})

test('Anthropic: half a JSON at max_tokens, with a block that never stops, is no call', async () => {
  const [incomplete] = recordings(({ file }) => file.endsWith('incomplete_partial_json_response.txt'))
  const text = Buffer.from(incomplete?.body ?? []).toString('utf8')
  for (const body of [text, `${text.trimEnd()}\n\n`]) {
    const events = await ask('anthropic-messages', body)
    expect(callsOf(events)).toEqual([])
    expect(isActionable(events)).toBe(false)
  }
  expect((await ask('anthropic-messages', `${text.trimEnd()}\n\n`)).at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
})

test('Anthropic: a call that was begun and never completed makes a tool_use stop a broken stream', async () => {
  const event = (data: { type: string; [key: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const body = [
    event({
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'refund', input: {} } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"amount": 10' } }),
    event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } }),
    event({ type: 'message_stop' }),
  ].join('')
  const events = await ask('anthropic-messages', body)
  expect(callsOf(events)).toEqual([])
  expect(events.at(-1)).toMatchObject({ type: 'error', code: 'model_broken_stream', message: expect.stringContaining('refund') })
})

test('a refusal is a finish with content_filter, also when it comes after a tool was used', async () => {
  const refusals = recordings(({ file }) => /fable-fallback\/stream-a-(tool)?refusal/.test(file))
  expect(refusals).toHaveLength(2)
  for (const { body } of refusals) {
    expect((await ask('anthropic-messages', body)).at(-1)).toMatchObject({ type: 'finish', reason: 'content_filter' })
  }
})

test('a recorded finish decides: nothing is whole that its provider did not call whole', async () => {
  await using server = await startReplayServer()
  for (const recording of recordings()) {
    if (recording.id !== recording.row || recording.expected.finish === 'stop' || recording.expected.finish === 'tool-calls') continue
    const { spec, settings } = modelFor(recording, server.play([answerWith(recording)]).baseUrl)
    const events = await collect(await openModel(spec, settings))
    const end = events.at(-1)
    expect(end?.type === 'finish' ? end.reason : 'error', recording.file).not.toMatch(/^(stop|tool_calls)$/)
    expect(callsOf(events), recording.file).toEqual([])
  }
})

test('one step is one request: nothing is sent again after a failure', async () => {
  await using server = await startReplayServer()
  for (const api of ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generateContent'] as const) {
    for (const status of [429, 500, 503, 529]) {
      const failure = answerWith({ status, contentType: 'application/json', body: TEXT.encode('{}') })
      const replay = server.play([failure, failure, failure])
      const { spec, settings } = modelFor({ api, vendor: 'OpenAI', model: 'm' }, replay.baseUrl)
      expect((await collect(await openModel(spec, settings))).at(-1)).toMatchObject({ type: 'error', retryable: true })
      expect(replay.requests).toHaveLength(1)
    }
  }
})

test('token counts that cannot be true are taken as none, and parts of a token are rounded up', async () => {
  const usageOf = async (prompt: number, completion: number, cached = 0) => {
    const usage = { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: { cached_tokens: cached } }
    const body = sse(chunk({ content: 'Hello' }), chunk({}, 'stop'), { id: 'c', choices: [], usage }, '[DONE]')
    const last = (await ask('openai-chat', body)).at(-1)
    expect(last).toMatchObject({ type: 'finish', reason: 'stop' })
    return (last as Extract<ModelEvent, { type: 'finish' }>).usage
  }
  expect(await usageOf(12.5, 3.01, 0.5)).toEqual({ inputTokens: 13, cachedInputTokens: 1, outputTokens: 4 })
  expect(await usageOf(0, 0)).toEqual({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 })
  expect(await usageOf(-5000, 3)).toBeUndefined()
  expect(await usageOf(12, -1)).toBeUndefined()
  expect(await usageOf(12, 3, -1)).toBeUndefined()
  // No database has room for it.
  expect(await usageOf(1e300, 3)).toBeUndefined()
})

test('an aborted step ends with an error and closes its connection', async () => {
  await using server = await startReplayServer()
  const closed = Promise.withResolvers<void>()
  const chunks = (async function* () {
    try {
      for (;;) yield sse(chunk({ content: 'more ' }))
    } finally {
      closed.resolve()
    }
  })()
  const { baseUrl } = server.play([{ status: 200, contentType: 'text/event-stream', chunks }])
  const model = await openModel('openai-compatible/m', { openaiCompatible: { baseUrl } })
  const abort = new AbortController()
  const events: ModelEvent[] = []
  for await (const event of model.stream({
    instructions: '',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [],
    signal: abort.signal,
  })) {
    events.push(event)
    if (events.length === 3) abort.abort()
  }
  expect(events.at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining('cancelled') })
  await closed.promise
})

test('a reader that stops reading closes the connection', async () => {
  await using server = await startReplayServer()
  const closed = Promise.withResolvers<void>()
  const chunks = (async function* () {
    try {
      for (;;) yield sse(chunk({ content: 'more ' }))
    } finally {
      closed.resolve()
    }
  })()
  const { baseUrl } = server.play([{ status: 200, contentType: 'text/event-stream', chunks }])
  const model = await openModel('openai-compatible/m', { openaiCompatible: { baseUrl } })
  const signal = new AbortController().signal
  for await (const event of model.stream({ instructions: '', messages: [{ role: 'user', content: 'Hi' }], tools: [], signal })) {
    if (event.type === 'text') break
  }
  await closed.promise
})
