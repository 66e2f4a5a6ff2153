import type { Action, EventDataOf, EventType } from '@countersign/core'
import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { type Api, type ApiFlags, openApi, withApiFlags } from './api.ts'
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

/** `countersign run "message"`: a chat in the terminal. What needs approval is asked in line, and can be decided elsewhere meanwhile. */
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
  const { body: events } = await api.open('/api/chat', { body })
  const transcript = openTranscript(environment)
  const asksHere = !json && wait && process.stdin.isTTY && process.stdout.isTTY
  const asked = asksHere ? askInLine(api, transcript) : undefined
  for await (const { event, data } of eventsOf(events)) {
    if (event === undefined) continue
    const parsed: unknown = JSON.parse(data)
    const is = <T extends EventType>(type: T, _data: unknown): _data is EventDataOf<T> => event === type
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
    if (is('error', parsed)) {
      transcript.endLine()
      complain(parsed.error)
      process.exitCode = 1
    }
    if (is('done', parsed) || is('error', parsed)) return
  }
  complain('the connection was cut; the run goes on by itself, and the console shows it')
  process.exitCode = 1
}

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
