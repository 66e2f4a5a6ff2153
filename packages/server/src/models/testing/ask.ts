import type { ModelEvent } from '@countersign/core'
import { openModel } from '../open.ts'
import { collect } from './collect.ts'
import { modelFor, type RecordedApi } from './recordings.ts'
import { answerWith, type ReplayAnswer, startReplayServer } from './replay-server.ts'

export const TEXT = new TextEncoder()
/** An event stream of these data. */
export const sse = (...data: (string | object)[]): Uint8Array =>
  TEXT.encode(data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''))

/** What a model makes of this answer of its provider. */
export async function ask(
  api: RecordedApi,
  body: Uint8Array | string,
  given: Partial<ReplayAnswer> & { vendor?: string } = {},
): Promise<ModelEvent[]> {
  await using server = await startReplayServer()
  const bytes = typeof body === 'string' ? TEXT.encode(body) : body
  const answer = { ...answerWith({ status: 200, contentType: 'text/event-stream', body: bytes }), ...given }
  const { spec, settings } = modelFor({ api, vendor: given.vendor ?? 'Some vendor', model: 'm' }, server.play([answer]).baseUrl)
  return await collect(await openModel(spec, settings))
}

/** A chunk of Chat Completions. */
export const chunk = (delta: object, finish: string | null = null) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })
/** The delta of a chunk with a part of a call. */
export const call = (index: number, text: string, name?: string, id?: string) => ({
  tool_calls: [{ index, ...(id && { id }), type: 'function', function: { ...(name && { name }), arguments: text } }],
})
