import { setTimeout as delay } from 'node:timers/promises'
import type { Action, EventDataOf, EventType } from '@countersign/core'
import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { type Api, type ApiFlags, openApi, Refused, withApiFlags } from './api.ts'
import { eventsOf } from './event-stream.ts'
import { complain, sayJson } from './say.ts'
import { askInLine } from './terminal/ask-in-line.ts'
import { openTranscript, type Transcript } from './terminal/transcript.ts'

interface RunFlags extends ApiFlags {
  agent?: string
  session?: string
  wait: boolean
}

/** The run waits for a decision, and nobody here is asked. */
const WAITS_EXIT = 4

const RUN_HELP = `
Exit code 4: with --no-wait, an action waits for a decision.`

/** `countersign run "message"`: a chat in the terminal. Actions that need approval are decided in line, or elsewhere meanwhile. */
export const runAgentCommand = (environment: Environment): Command =>
  withApiFlags(new Command('run').description('send a message to an agent, and follow its run'))
    .argument('<message>', 'what to say')
    .option('--agent <name>', 'the agent of a new session (default: the first of the configuration)')
    .option('--session <id>', 'go on in a session: ses_…')
    .option('--no-wait', 'end when an action waits for a decision, and ask nothing')
    .option('--json', 'print one JSON object a line, {type, data}, and ask nothing')
    .addHelpText('after', RUN_HELP)
    .action((message: string, flags: RunFlags) => run(openApi(flags, environment), message, flags, environment))

async function run(api: Api, message: string, flags: RunFlags, environment: Environment): Promise<void> {
  const { agent, session, wait, json } = flags
  const body = { message, ...(agent !== undefined && { agent }), ...(session !== undefined && { sessionId: session }) }
  const transcript = openTranscript(environment)
  const asksHere = !json && wait && process.stdin.isTTY && process.stdout.isTTY
  const asked = asksHere ? askInLine(api, transcript) : undefined
  const place: Place = {}
  for await (const { event, data } of eventsOfRun(api, body, place)) {
    const parsed: unknown = JSON.parse(data)
    const is = <T extends EventType>(type: T, _data: unknown): _data is EventDataOf<T> => event === type
    note(place, is, parsed)
    if (json) sayJson({ type: event, data: parsed })
    else print(transcript, is, parsed)
    if (is('action_proposed', parsed) && parsed.proposal.state === 'proposed') {
      if (asked) asked.ask(parsed.proposal)
      else if (!json) transcript.line(`waits for a decision: ${parsed.proposal.id}  ${parsed.proposal.description}`)
      if (!wait) {
        process.exitCode = WAITS_EXIT
        return
      }
    }
    if (is('action_update', parsed) && parsed.state !== 'proposed') asked?.close(parsed.proposalId)
    const isOfOther = (is('done', parsed) || is('error', parsed)) && parsed.runId !== undefined && place.runId !== parsed.runId
    if (is('error', parsed) && !isOfOther) {
      transcript.endLine()
      complain(parsed.error)
      process.exitCode = 1
    }
    if (is('session_deleted', parsed) || ((is('done', parsed) || is('error', parsed)) && !isOfOther)) return
  }
  complain('the connection was cut; the run goes on by itself, and the console shows it')
  process.exitCode = 1
}

/** How far a run was followed. */
interface Place {
  sessionId?: string
  /** The message that was sent. A message that is queued gets its run later. */
  messageId?: string
  runId?: string
  lastEventId?: string
}

function note(place: Place, is: Is, data: unknown): void {
  if (is('session', data)) Object.assign(place, { sessionId: data.sessionId, ...(data.runId !== '' && { runId: data.runId }) })
  if (!is('message', data) || data.message.role !== 'user') return
  place.messageId ??= data.message.id
  if (data.message.id === place.messageId && data.message.runId) place.runId = data.message.runId
}

const RECONNECT_MS = 1_000

/** The events of a run. When the connection is cut, they go on after the last one, from the log of the session. */
async function* eventsOfRun(api: Api, body: object, place: Place): AsyncGenerator<{ event: string; data: string }> {
  let { body: events } = await api.open('/api/chat', { body })
  for (;;) {
    try {
      for await (const { id, event, data } of eventsOf(events)) {
        if (id !== undefined) place.lastEventId = id
        if (event !== undefined) yield { event, data }
      }
    } catch (error) {
      if (!isCut(error)) throw error
    }
    const { sessionId, lastEventId } = place
    if (sessionId === undefined || lastEventId === undefined) return
    complain('the connection was cut: connecting again')
    events = await connectAgain(api, sessionId, lastEventId)
  }
}

async function connectAgain(api: Api, sessionId: string, lastEventId: string): Promise<Response['body']> {
  for (;;) {
    await delay(RECONNECT_MS)
    try {
      const headers = { 'last-event-id': lastEventId }
      return (await api.open(`/api/sessions/${encodeURIComponent(sessionId)}/events`, { headers })).body
    } catch (error) {
      if (error instanceof Refused && error.status < 500) throw error
    }
  }
}

/** The answer of a server ended before its end. */
const isCut = (error: unknown): boolean => error instanceof TypeError && error.message === 'terminated'

type Is = <T extends EventType>(type: T, data: unknown) => data is EventDataOf<T>

function print(transcript: Transcript, is: Is, data: unknown): void {
  if (is('session', data)) transcript.line(`session ${data.sessionId}`, 'dim')
  if (is('delta', data)) transcript.stream(data.content, data.restart === true)
  if (is('message', data)) {
    const { role, kind, content } = data.message
    if (role === 'assistant' && kind === 'text') transcript.finish(content)
    if (role === 'system' && kind === 'note') transcript.line(content)
  }
  if (is('action_proposed', data) && data.proposal.state !== 'proposed') transcript.line(stateOf(data.proposal))
  if (is('action_update', data) && data.state !== 'proposed')
    transcript.line(`${data.state}${data.error ? `: ${data.error.message}` : ''}  ${data.proposalId}`)
}

const stateOf = ({ state, description, id }: Pick<Action, 'state' | 'description' | 'id'>): string => `${state}: ${description}  ${id}`
