import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Action, ActionList, JsonObject, MessageList, PostedMessage, Session, SessionEvent } from '@countersign/core'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { openConfig, readSettings } from '../../packages/server/src/config/index.ts'
import { createLog } from '../../packages/server/src/log.ts'
import type { ModelSettings } from '../../packages/server/src/models/index.ts'
import { modelFor, type Recording } from '../../packages/server/src/models/testing/recordings.ts'
import { type ReplayAnswer, type ReplayRequest, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { startServer } from '../../packages/server/src/server.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'

const KEY = 'key-of-the-recorded-desk-test'

/** A whole server over HTTP, with one agent for each recording: the recording's model, and tools of the names that it calls. */
export interface Desk extends AsyncDisposable {
  /** The calls that the tools executed, in order. */
  readonly executed: { tool: string; arguments: JsonObject }[]
  /** Starts a session of the recording's agent whose provider will answer with `answers`. One session at a time. */
  ask(recording: Recording, answers: readonly ReplayAnswer[]): Promise<DeskSession>
}

export interface DeskSession extends AsyncDisposable {
  readonly sessionId: string
  /** Events up to now, in order. */
  readonly seen: SessionEvent[]
  /** The requests to the provider since the session began. */
  requests(): ReplayRequest[]
  /** Reads the stream up to the next event that fits. */
  until(fits: (event: SessionEvent) => boolean): Promise<SessionEvent>
  /** The session's actions in the order of their calls. */
  actions(): Promise<Action[]>
  messages(): Promise<MessageList['items']>
  session(): Promise<Session>
  decide(actionId: string, verdict: 'approve' | 'decline'): Promise<Action>
}

export async function openDesk(recordings: readonly Recording[]): Promise<Desk> {
  const resources = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'countersign-recordings-'))
  resources.defer(() => rm(folder, { recursive: true }))
  const providers = resources.use(await startReplayServer())
  const answers: ReplayAnswer[] = []
  const replay = providers.play(answers)
  const executed: Desk['executed'] = []

  const tools = [...new Set(recordings.flatMap(namesOf))].map((name) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      effect: 'write',
      input: { type: 'object', additionalProperties: true },
      execute: (args) => {
        executed.push({ tool: name, arguments: args })
        return { done: executed.length }
      },
    }),
  )
  const models: ModelSettings = {}
  const agents: Record<string, { model: string; tools: string[] }> = {}
  for (const recording of recordings) {
    const { spec, settings } = modelFor(recording, replay.baseUrl)
    Object.assign(models, settings)
    agents[agentOf(recording)] = { model: spec, tools: namesOf(recording) }
  }
  const config = await openConfig({ agents, tools: { recorded: { prefix: false, tools } } }, { environment: {}, folder })
  const server = await startServer({
    config,
    settings: { ...readSettings({ port: 0, data: folder, logLevel: 'silent' }, { COUNTERSIGN_BOOTSTRAP_KEY: KEY }), models },
    log: createLog('fatal'),
  })
  resources.defer(() => server.close())

  async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  return {
    executed,
    async ask(recording, given) {
      const before = replay.requests.length
      answers.length = before
      answers.push(...given)
      const { id: sessionId } = await call<Session>('POST', '/api/sessions', { agent: agentOf(recording) })
      const events = await openEvents(`${server.url}/api/sessions/${sessionId}/events`)
      await call<PostedMessage>('POST', `/api/sessions/${sessionId}/messages`, { content: 'Please do it' })
      const seen: SessionEvent[] = []
      return {
        sessionId,
        seen,
        requests: () => replay.requests.slice(before),
        async until(fits) {
          for (;;) {
            const { value, done } = await events.read()
            if (done) throw new Error(`the stream of ${recording.id} ended after ${seen.map((event) => event.type).join(', ')}`)
            seen.push(value)
            if (fits(value)) return value
          }
        },
        actions: async () => (await call<ActionList>('GET', `/api/actions?session=${sessionId}&limit=200`)).items.reverse(),
        messages: async () => (await call<MessageList>('GET', `/api/sessions/${sessionId}/messages?limit=200`)).items.reverse(),
        session: () => call<Session>('GET', `/api/sessions/${sessionId}`),
        decide: (actionId, verdict) => call<Action>('POST', `/api/actions/${actionId}/decision`, { verdict }),
        [Symbol.asyncDispose]: () => events.cancel(),
      }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

const agentOf = ({ id }: Recording): string => id.replaceAll('.', '-')

const namesOf = ({ expected }: Recording): string[] => [
  ...new Set(expected.calls.flatMap((call) => (call.providerExecuted || !call.name ? [] : [call.name]))),
]

async function openEvents(url: string): Promise<ReadableStreamDefaultReader<SessionEvent>> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })
  if (!response.ok || !response.body) throw new Error(`${url}: ${response.status}`)
  return response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream({
        transform: ({ event, id, data }, out) =>
          out.enqueue({ type: event, seq: Number(id), data: JSON.parse(data) } as unknown as SessionEvent),
      }),
    )
    .getReader()
}
