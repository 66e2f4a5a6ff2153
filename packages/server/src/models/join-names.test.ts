import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { callsOf, collect, textOf } from './testing/collect.ts'
import { modelFor } from './testing/recordings.ts'
import { answerWith, startReplayServer } from './testing/replay-server.ts'

const chunk = (delta: object, finish: string | null = null) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })

interface Piece {
  index?: number
  id?: string | null
  name?: string
  text?: string
}

const piece = ({ index = 0, id, name, text }: Piece) =>
  chunk({
    tool_calls: [
      { index, ...(id !== undefined && { id }), type: 'function', function: { ...(name && { name }), ...(text && { arguments: text }) } },
    ],
  })

const OFFERED = ['getOrder', 'getOrders', 'updateOrderStatus', 'a', 'aa'].map((name) => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
}))

const FINISH = chunk({}, 'tool_calls')

/** @param end How lines end. */
async function ask(vendor: string, chunks: readonly (object | string)[], end = '\n') {
  await using server = await startReplayServer()
  const text = chunks.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}${end}${end}`).join('')
  const answer = answerWith({ status: 200, contentType: 'text/event-stream', body: new TextEncoder().encode(text) })
  const { spec, settings } = modelFor({ api: 'openai-chat', vendor, model: 'm' }, server.play([answer]).baseUrl)
  return await collect(await openModel(spec, settings), { tools: OFFERED })
}

for (const vendor of ['OpenAI', 'Some vendor']) {
  const calls = async (pieces: readonly Piece[], end?: string) =>
    callsOf(await ask(vendor, [...pieces.map(piece), FINISH, '[DONE]'], end)).map(({ name, argumentsText }) => `${name} ${argumentsText}`)

  test(`${vendor}: the pieces of a name are one call, however they are cut and whatever comes between`, async () => {
    const whole = ['updateOrderStatus {"x":1}']
    for (const end of ['\n', '\r\n', '\r']) {
      expect(await calls([{ id: 'c1', name: 'update' }, { name: 'Order' }, { name: 'Status' }, { text: '{"x":1}' }], end)).toEqual(whole)
      expect(await calls([{ id: 'c1', name: 'update' }, { name: 'OrderStatus', text: '{"x"' }, { text: ':1}' }], end)).toEqual(whole)
      expect(
        await calls(
          [
            { id: 'c1', name: 'update' },
            { id: 'c1', name: 'OrderStatus' },
            { id: 'c1', text: '{"x":1}' },
          ],
          end,
        ),
      ).toEqual(whole)
    }
    const between = [{ id: 'c1', name: 'upd' }, { index: 1, id: 'c2', name: 'getO' }, { name: 'ateOrderStatus' }]
    expect(await calls([...between, { text: '{"x":1}' }, { index: 1, name: 'rders', text: '{}' }])).toEqual([...whole, 'getOrders {}'])
  })

  test(`${vendor}: a name that begins another is itself where nothing follows it`, async () => {
    expect(await calls([{ id: 'c1', name: 'getOrder' }, { text: '{"id":1}' }])).toEqual(['getOrder {"id":1}'])
    expect(await calls([{ id: 'c1', name: 'getOrder' }, { name: 's' }, { text: '{}' }])).toEqual(['getOrders {}'])
    const events = await ask(vendor, [piece({ id: 'c1', name: 'getOrder' }), FINISH])
    expect(callsOf(events)).toMatchObject([{ name: 'getOrder' }])
  })

  test(`${vendor}: a name that is sent again with every piece is not joined to itself`, async () => {
    expect(
      await calls([
        { id: 'c1', name: 'a' },
        { id: 'c1', name: 'a', text: '{}' },
      ]),
    ).toEqual(['a {}'])
    expect(
      await calls([
        { id: 'c1', name: 'getOrder' },
        { name: 'getOrder', text: '{"id":1}' },
      ]),
    ).toEqual(['getOrder {"id":1}'])
  })

  test(`${vendor}: a call with another id is another call, also at the same index`, async () => {
    const both = [
      { id: 'c1', name: 'getOrder', text: '' },
      { id: 'c2', name: 's', text: '{}' },
    ]
    expect(await calls(both)).not.toContain('getOrders {}')
  })

  test(`${vendor}: an answer that ends in the middle of a name makes no call`, async () => {
    const begun = [chunk({ content: 'I will.', ...piece({ id: 'c1', name: 'update' }).choices[0]?.delta })]
    for (const rest of [[], ['[DONE]']]) {
      const events = await ask(vendor, [...begun, ...rest])
      expect(callsOf(events)).toEqual([])
      expect(textOf(events)).toBe('I will.')
      expect(events.at(-1)).toMatchObject({ type: 'error', code: 'model_broken_stream' })
    }
  })
}
