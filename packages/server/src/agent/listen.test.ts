import type { Model, ModelEvent } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { request } from '../models/testing/collect.ts'
import { openCallIds } from './call-ids.ts'
import { type Heard, listenToModel } from './listen.ts'

const SILENT = { text() {}, reasoning() {}, toolCallStart() {}, restart() {}, close: () => [] }
const NOTHING_DONE = 'Nothing of what it was about to do was carried out.'

const errorOf = async (...events: ModelEvent[]): Promise<string | undefined> => (await heardOf(...events)).failure?.error

function heardOf(...events: ModelEvent[]): Promise<Heard> {
  const model: Model = {
    id: 'm',
    async *stream() {
      yield* events
    },
  }
  let ids = 0
  const callIds = openCallIds(new Set(), () => `call_${++ids}`)
  return listenToModel(model, request(), SILENT, callIds)
}

const started: ModelEvent = { type: 'tool_call_start', key: 'call-1', name: 'refund' }
const failed = (message: string): ModelEvent => ({ type: 'error', code: 'model_broken_stream', message, retryable: true })

test('an error of two parts is two sentences, whatever the first ends with', async () => {
  expect(await errorOf(started, failed('m left a tool call unfinished: refund'))).toBe(
    `m left a tool call unfinished: refund. ${NOTHING_DONE}`,
  )
  for (const message of ['It broke.', 'It broke!', 'Did it break?', 'It bro…', 'He said “it broke.”', 'It broke (again.)']) {
    expect(await errorOf(started, failed(message))).toBe(`${message} ${NOTHING_DONE}`)
  }
  expect(await errorOf(started, failed('It broke \n'))).toBe(`It broke. ${NOTHING_DONE}`)
  expect(await errorOf(failed('It broke'))).toBe('It broke')
})

test('a failed step counts for the model that failed, where several were asked', async () => {
  expect(await heardOf(failed('It broke'))).toMatchObject({ model: 'm' })
  expect(await heardOf({ type: 'error', code: 'model_error', message: 'It broke', retryable: false, model: 'second' })).toMatchObject({
    model: 'second',
    failure: {},
  })
})

test('any error is closed by one mark before the second sentence begins', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string().filter((text) => text.trim() !== ''),
      async (message) => {
        const said = await errorOf(started, failed(message))
        expect(said?.endsWith(` ${NOTHING_DONE}`)).toBe(true)
        const first = said?.slice(0, -NOTHING_DONE.length - 1)
        expect(first).toMatch(/[.!?…]["'”’)\]]*$/u)
        expect(first?.startsWith(message.trimEnd())).toBe(true)
      },
    ),
    { seed: 1 },
  )
})
