import {
  type FinishReason,
  type JsonObject,
  type JsonValue,
  LookUp,
  type Model,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
} from '@countersign/core'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { z } from 'zod'
import { deltaOf, joinHalves, readBrainEvent, writeArguments } from './brain-event.ts'
import { collectLookUps, type LookUps, lookUpMessages } from './brain-look-ups.ts'
import { readRetryAfter } from './classify.ts'
import { describe, modelError, refusalError, toModelError, unsentError } from './errors.ts'
import { historyProblem } from './history.ts'
import { readJson } from './json.ts'
import { planResults } from './tool-media.ts'
import { watchWire } from './watch.ts'

const MAX_EVENT_CHARACTERS = 1024 * 1024
const MAX_STREAM_BYTES = 16 * 1024 * 1024

export interface RemoteBrainOptions {
  id: string
  url: string
  headers: Readonly<Record<string, string>>
  /** Sends its requests. */
  fetch: typeof globalThis.fetch
  /** The longest silence, before the answer and between two chunks. */
  timeoutMs: number
}

/**
 * Creates a remote brain: an HTTP service that does the thinking and decides, while the actions are executed here. It receives the messages
 * in the format of OpenAI's chat and answers with server-sent events, the type inside the data or as the event's name:
 * - `text-delta {delta}`: A part of the text.
 * - `reasoning-delta {delta}`: A part of the reasoning.
 * - `require-action {toolCallId, toolName, input}`: A call of a tool. Policy and people decide, and the server runs it.
 * - `tool-input-available {toolCallId, toolName, input}`: Announces a call if a `require-action` names the same `toolCallId`; otherwise a
 *   look-up that the brain makes by itself.
 * - `tool-output-available {toolCallId, output}`: The result of a look-up.
 * - `tool-output-error {toolCallId, errorText}`: Why a look-up failed.
 * - `finish {finishReason?}`: The end.
 * - `error {message}`: The end, because the brain failed.
 *
 * Beside the messages it receives `session {id}`, `user {id, name}` (the author of the newest message) and `agent {name}`. They are not
 * signed: a brain trusts them because the request carries its own secret header.
 *
 * Only `require-action` makes a call: no look-up starts anything here. `finish` ends the step: events after it are not read, and without it
 * there is no call.
 *
 * The action of a call has the `toolCallId` of the brain, which gets it back on the call and its result, because it may know its calls by
 * it; a call whose id is empty or occurs twice in the conversation carries ours.
 */
export function remoteBrain(options: RemoteBrainOptions): Model {
  return {
    id: options.id,
    async *stream(request) {
      const problem = historyProblem(request.messages)
      if (problem !== undefined) return yield unsentError(options.id, problem)
      const watch = watchWire({ ...options, maxBytes: MAX_STREAM_BYTES })
      const stop = new AbortController()
      const { callIds } = brainIds(options.id, request.messages)
      const lookUps = collectLookUps(callIds)
      try {
        const signal = AbortSignal.any([request.signal, stop.signal])
        for await (const event of ask({ ...options, fetch: watch.fetch, signal }, request, lookUps)) {
          if (event.type === 'finish' || event.type === 'error') yield* lookUpsEvent(lookUps)
          yield event
        }
      } catch (error) {
        yield* lookUpsEvent(lookUps)
        if (request.signal.aborted) yield modelError('model_error', `the call of ${options.id} was cancelled`)
        else yield remoteError(options.id, error, watch.report)
      } finally {
        stop.abort()
      }
    },
  }
}

const lookUpsEvent = (lookUps: LookUps): ModelEvent[] => {
  const all = lookUps.all()
  return all.length === 0 ? [] : [{ type: 'look_ups', lookUps: all }]
}

async function* ask(
  { fetch, signal, ...options }: RemoteBrainOptions & { fetch: typeof globalThis.fetch; signal: AbortSignal },
  request: ModelRequest,
  lookUps: LookUps,
): AsyncGenerator<ModelEvent> {
  const response = await fetch(options.url, {
    method: 'POST',
    headers: { ...options.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(toBody(options.id, request)),
    signal,
  })
  if (!response.ok) {
    const body = await response.text()
    const detail = describe(readJson(body) ?? body).message
    const retryAfterMs = readRetryAfter(Object.fromEntries(response.headers), body, Date.now())
    yield {
      ...refusalError(options.id, { status: response.status, text: body }, detail),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }
    return
  }
  const type = response.headers.get('content-type') ?? 'no content type'
  if (!response.body || !type.startsWith('text/event-stream')) {
    yield modelError('model_broken_stream', `${options.id} sent no event stream (${type})`, false)
    return
  }

  const calls: Extract<ModelEvent, { type: 'tool_call' }>[] = []
  const joined = { text: joinHalves(), reasoning: joinHalves() }
  for await (const message of readEvents(response.body)) {
    if (message === 'too large') {
      yield modelError('model_broken_stream', `${options.id} sent an event larger than 1 MB`, false)
      return
    }
    if (message.data === '[DONE]') break
    const read = readBrainEvent(message)
    if (!read) {
      yield modelError('model_broken_stream', `${options.id} sent an event that is not of its protocol: ${message.data}`)
      return
    }
    const { event, written } = read
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const type = event.type === 'text-delta' ? 'text' : 'reasoning'
        const delta = joined[type].add(deltaOf(event, written))
        if (delta !== '') yield { type, delta }
        break
      }
      case 'require-action': {
        const { toolCallId, toolName: name, input } = event
        lookUps.called(toolCallId ?? undefined, name, input)
        const key = `call-${calls.length + 1}`
        const argumentsText = writeArguments(input, written ? written.input : input)
        calls.push({ type: 'tool_call', key, ...(toolCallId && { providerCallId: toolCallId }), name, argumentsText })
        yield { type: 'tool_call_start', key, ...(toolCallId && { providerCallId: toolCallId }), name }
        break
      }
      case 'tool-input-available':
        lookUps.announced(event.toolCallId ?? undefined, event.toolName, event.input ?? {})
        break
      case 'tool-output-available':
        lookUps.answered(event.toolCallId, { output: event.output })
        break
      case 'tool-output-error':
        lookUps.answered(event.toolCallId, { error: event.errorText })
        break
      case 'finish': {
        const reason = finishReason(event.finishReason ?? event.reason, calls.length > 0)
        const isWhole = reason === 'stop' || reason === 'tool_calls'
        const rest = joined.text.end()
        if (rest !== '') yield { type: 'text', delta: rest }
        if (isWhole) yield* calls
        const callIds = calls.map((call) => call.providerCallId ?? '')
        yield { type: 'finish', reason, ...(isWhole && calls.length > 0 && { providerData: { callIds } }) }
        return
      }
      case 'error': {
        const { error, message: text, errorText } = event
        yield modelError('model_error', `${options.id} reported an error: ${describe(text ?? errorText ?? error).message}`)
        return
      }
    }
  }
  request.signal.throwIfAborted()
  yield modelError('model_broken_stream', `the answer of ${options.id} ended without a finish`)
}

function finishReason(reason: string | null | undefined, hasCalls: boolean): FinishReason {
  switch (reason?.replaceAll('-', '_')) {
    case undefined:
    case 'stop':
    case 'tool_calls':
      return hasCalls ? 'tool_calls' : 'stop'
    case 'length':
      return 'length'
    case 'content_filter':
      return 'content_filter'
    default:
      return 'other'
  }
}

function toBody(model: string, { instructions, messages, tools, conversation, agent, user }: ModelRequest): JsonObject {
  const { idOf, lookUpId } = brainIds(model, messages)
  const resultOf = planResults(messages)
  const shaped = messages.flatMap((message): JsonObject | JsonObject[] => {
    if (message.role === 'user') return { role: 'user', content: message.content }
    if (message.role === 'tool') {
      const { outcome } = message
      const content: JsonValue = outcome.type === 'declined' ? { denied: true, reason: outcome.reason } : resultOf(outcome)
      return { role: 'tool', tool_call_id: idOf(message.toolCallId), content: JSON.stringify(content) }
    }
    const toolCalls = message.toolCalls.map((call) => ({
      id: idOf(call.id),
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }))
    const lookedUp = lookUpMessages(brainData(model, message).lookUps, lookUpId)
    const said = { role: 'assistant', content: message.content, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) }
    return lookedUp.length > 0 && message.content === '' && toolCalls.length === 0 ? lookedUp : [...lookedUp, said]
  })
  const offered = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))
  return {
    messages: instructions === '' ? shaped : [{ role: 'system', content: instructions }, ...shaped],
    ...(offered.length > 0 && { tools: offered }),
    ...(conversation !== undefined && { session: { id: conversation } }),
    ...(user && { user: { id: user.id, name: user.name } }),
    ...(agent !== undefined && { agent: { name: agent } }),
  }
}

const BrainData = z.object({ callIds: z.array(z.string()).default([]), lookUps: z.array(LookUp).default([]) })

/** The data that this brain stored with a message of its own. */
const brainData = (model: string, message: Extract<ModelMessage, { role: 'assistant' }>): z.infer<typeof BrainData> =>
  (message.model === model ? BrainData.safeParse(message.providerData).data : undefined) ?? { callIds: [], lookUps: [] }

interface BrainIds {
  /** Returns the brain's own id of one of our calls. */
  idOf(id: string): string
  /** Returns the id of a look-up in the history: call it once for each, in order. */
  lookUpId(id: string): string
  /** All ids of the conversation's calls, ours and the brain's. */
  callIds: ReadonlySet<string>
}

function brainIds(model: string, messages: readonly ModelMessage[]): BrainIds {
  const theirs = new Map<string, string>()
  const times = new Map<string, number>()
  const count = (id: string) => times.set(id, (times.get(id) ?? 0) + 1)
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const { callIds, lookUps } = brainData(model, message)
    for (const [index, call] of message.toolCalls.entries()) {
      const id = (callIds.length === message.toolCalls.length && callIds[index]) || call.id
      theirs.set(call.id, id)
      count(id)
    }
    for (const { id } of lookUps) count(id)
  }
  let lookedUp = 0
  return {
    idOf(id) {
      const brainId = theirs.get(id)
      return brainId !== undefined && times.get(brainId) === 1 ? brainId : id
    },
    lookUpId(id) {
      lookedUp++
      return times.get(id) === 1 && !theirs.has(id) ? id : `countersign-look-up-${lookedUp}`
    },
    callIds: new Set([...theirs].flat()),
  }
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage | 'too large'> {
  const events: (EventSourceMessage | 'too large')[] = []
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (event) => events.push(event.data.length > MAX_EVENT_CHARACTERS ? 'too large' : event),
    onError: ({ type }) => type === 'max-buffer-size-exceeded' && events.push('too large'),
  })
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* events.splice(0)
  }
}

function remoteError(model: string, error: unknown, report: Parameters<typeof toModelError>[2]): ModelEvent {
  if (report?.timedOut || report?.tooLarge) return toModelError(model, error, report)
  if (error instanceof TypeError && error.message === 'fetch failed') {
    return modelError(
      'model_unreachable',
      `${model} cannot be reached: ${error.cause instanceof Error ? error.cause.message : error.message}`,
    )
  }
  return toModelError(model, error, report)
}
