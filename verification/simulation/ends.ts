import { isTerminal } from '@countersign/core'
import { stepMessageId } from '../../packages/server/src/agent/step-message.ts'
import {
  type ActionRow,
  type EventRow,
  events,
  type MessageRow,
  type RunRow,
  type SessionRow,
} from '../../packages/server/src/store/index.ts'
import type { Counts } from './counts.ts'
import type { WorldDatabase } from './database.ts'
import type { Reader } from './reader.ts'
import { readerFaults } from './reader-faults.ts'
import type { Requests, Told } from './requests.ts'
import type { Target } from './target.ts'
import type { Watch } from './watch.ts'

export interface EndParts {
  database: WorldDatabase
  target: Target
  watch: Watch
  requests: Requests
  readers: readonly Reader[]
  counts: Counts
  /** Where models answered badly: see {@link placeIn}. */
  badAnswers: ReadonlySet<string>
  /**
   * The database was put back to an earlier moment: effects that it knows nothing of are the original's, and people who released what was
   * held answer for what happened twice.
   */
  isRestored: boolean
  isKeyed(tool: string): boolean
  name(id: string): string
}

/** Checks what must hold once trouble has ended and everybody was given time. Returns a sentence for each fault. */
export function endFaults(parts: EndParts): string[] {
  const { database } = parts
  const actions = database.all<ActionRow>('select * from action order by id')
  const sessions = database.all<SessionRow>('select * from session order by id')
  return [
    ...actions.flatMap((row) => actionFaults(parts, row, actions)),
    ...parts.requests.told.flatMap((told) => toldFaults(parts, told)),
    ...sessions.flatMap((row) => sessionFaults(parts, row, actions)),
    ...parts.readers.flatMap((reader) => readerFaults(parts, reader)),
  ]
}

/** I4 and I9 for one action, and that its state says what is known of its effect. */
function actionFaults(
  { target, watch, counts, isRestored, isKeyed, name }: EndParts,
  row: ActionRow,
  actions: readonly ActionRow[],
): string[] {
  const faults: string[] = []
  const id = name(row.id)
  counts.hit(`ended: ${row.state}`)
  const isAtRest = isTerminal(row.state) || row.state === 'failed' || row.state === 'outcome_unknown' || waitsForPeople(row)
  if (!isAtRest) faults.push(`I9: ${id} is still ${row.state}`)
  if (row.state === 'outcome_unknown' && row.due_at !== null) faults.push(`I9: ${id} is still to be checked`)
  if (isRestored) return faults
  const sends = target.sends.filter((send) => send.actionId === row.id)
  const effects = target.effects.filter((effect) => effect.actionId === row.id)
  if (row.cached_from !== null) {
    counts.hit('given what was read before')
    const source = actions.find((other) => other.id === row.cached_from)
    const isSame = source?.state === 'succeeded' && source.digest === row.digest && source.session_id === row.session_id
    if (!isSame || sends.length > 0 || source.result !== row.result) faults.push(`I3: ${id} was given what another read found`)
  }
  if (row.effect !== 'write') return faults
  const happened = effects.length > 0
  const last = sends.at(-1)
  if (effects.length > 1 && isKeyed(row.tool))
    faults.push(`I4: ${id} took effect ${effects.length} times under the keys ${effects.map(({ key }) => key)}`)
  if (!isKeyed(row.tool) && sends.length > 1 + watch.retriesOf(row.id)) {
    faults.push(`I4: ${id} was sent ${sends.length} times, and a person started it again ${watch.retriesOf(row.id)} times`)
  }
  if (row.state === 'succeeded' && !happened) faults.push(`I4: ${id} is told to have succeeded, and nothing happened`)
  if (row.state === 'failed' && happened) {
    faults.push(`I4: ${id} is told to have failed, and took effect`)
  }
  // Where nobody can be asked, "it is not known" has to be said: nobody may have guessed right either.
  const isUnclear = last !== undefined && (last.told === undefined || last.told === 'unclear')
  if (isUnclear && !isKeyed(row.tool) && !canLook(row.tool) && row.resolution === null && row.state !== 'outcome_unknown') {
    faults.push(`I4: nobody heard what came of ${id}, and it is ${row.state}`)
  }
  return faults
}

const waitsForPeople = ({ state, executor }: ActionRow): boolean => state === 'proposed' || (state === 'approved' && executor === 'client')

const canLook = (tool: string): boolean => tool === 'shop.book'

/** I2: winners and losers were told what the rows say. */
function toldFaults({ database, name }: EndParts, { kind, by, verdict, action }: Told): string[] {
  const votes = database.all<{ principal_id: string; verdict: string }>(
    'select principal_id, verdict from vote where action_id = ? and revision = ?',
    action.id,
    action.revision,
  )
  const told = action.votes.map((vote) => `${vote.by.id} ${vote.verdict}`).join()
  const real = votes.map((vote) => `${vote.principal_id} ${vote.verdict}`).join()
  const faults: string[] = []
  if (votes.length > 1) faults.push(`I2: ${name(action.id)} has ${votes.length} decisions`)
  if (told !== real)
    faults.push(`I2: ${by} was told that ${name(action.id)} is decided by ${told || 'nobody'}; it is by ${real || 'nobody'}`)
  if (kind === 'decided' && !told.includes(`${by} ${verdict}`)) faults.push(`I2: ${by} was told to have decided ${name(action.id)}`)
  return faults
}

function sessionFaults({ database, badAnswers, name }: EndParts, session: SessionRow, actions: readonly ActionRow[]): string[] {
  const faults: string[] = []
  const own = actions.filter((row) => row.session_id === session.id)
  const waiting = own.filter(waitsForPeople)
  const asked = own.filter(({ state }) => state === 'proposed')
  const messages = database.all<MessageRow>('select * from message where session_id = ? order by seq', session.id)
  const runs = database.all<RunRow>('select * from run where session_id = ? order by number', session.id)
  const said = database.all<EventRow>('select * from event where session_id = ? order by last_seq', session.id)
  const log = said.flatMap((row) => JSON.parse(events.eventsJson(row)) as [number, string, Record<string, unknown>][])
  const id = name(session.id)

  const calls = messages
    .flatMap((row) => (row.tool_calls === null ? [] : (JSON.parse(row.tool_calls) as { id: string }[])))
    .map((call) => call.id)
  const results = messages.filter(({ role }) => role === 'tool').map((row) => row.tool_call_id)
  // An action that failed, was retried and waits for approval again has already delivered its result; its next outcome is a note.
  const owed = new Set(waiting.filter(({ attempt }) => attempt === 0).map((row) => row.tool_call_id))
  const wanted = calls.filter((call) => !owed.has(call))
  if ([...results].sort().join() !== [...wanted].sort().join()) {
    faults.push(`I6: ${id} has results of ${results.length} calls and should have them of ${wanted.length}`)
  }
  if (waiting.length === 0) {
    for (const run of runs) if (run.state === 'open') faults.push(`I9: run ${run.number} of ${id} is open, and nothing waits`)
    if (messages.some(({ queued }) => queued === 1)) faults.push(`I9: a message of ${id} waits in the queue for nothing`)
  }
  const status = asked.length > 0 ? 'waiting_approval' : STATUS[runs.at(-1)?.state ?? 'none']
  if (session.status !== status) faults.push(`I9: the status of ${id} is ${session.status} and should be ${status}`)

  const endings = log.flatMap(([, type, data]) =>
    type === 'done' || (type === 'error' && data.runId !== undefined) ? [String(data.runId)] : [],
  )
  const over = runs.filter(({ state }) => state !== 'open').map((run) => run.id)
  if ([...endings].sort().join() !== [...over].sort().join()) faults.push(`I9: ${id} says ${endings.length} endings of ${over.length} runs`)
  for (const run of runs.filter(({ state }) => state === 'failed')) {
    const said = log.find(([, type, data]) => type === 'error' && data.runId === run.id)?.[2]
    // A step may be one too many, or its commit may break on a disk.
    const isModels = !['max_steps', 'internal'].includes(String(said?.code))
    if (isModels && !badAnswers.has(placeOfFailure(messages, run, said?.error))) {
      faults.push(`I9: run ${run.number} of ${id} failed at a step at which no model did`)
    }
  }
  const numbers = log.map(([seq]) => seq)
  if (numbers.some((seq, i) => i > 0 && seq <= (numbers[i - 1] ?? 0))) faults.push(`I7: the log of ${id} is out of order: ${numbers}`)
  if ((numbers.at(-1) ?? 0) > session.last_seq) faults.push(`I7: the log of ${id} goes further than its last number`)

  const contents = messages.filter(({ role, content }) => role === 'user' && content.startsWith('{')).map((row) => row.content)
  if (new Set(contents).size !== contents.length) faults.push(`I2: a message of ${id} that was sent once is there twice`)
  return faults
}

/** A place in a conversation, told by the first plan in it and how often the model has spoken. */
export function placeIn(messages: readonly { role: string; content?: string }[]): string {
  const plan = messages.find(({ role, content }) => role === 'user' && content?.startsWith('{'))
  return `${messages.filter(({ role }) => role === 'assistant').length} ${plan?.content ?? ''}`
}

/** The place that a run had reached when it failed: what is said of that, and what the model had begun to say, are not before it. */
function placeOfFailure(messages: readonly MessageRow[], run: RunRow, error: unknown): string {
  const heard = messages.filter((row) => row.in_history === 1)
  const note = messages.find((row) => row.role === 'system' && row.run_id === run.id && row.content === error)
  const before = heard.filter((row) => row.seq < (note?.seq ?? 0) && row.id !== stepMessageId(run))
  return placeIn(before)
}

const STATUS = { none: 'idle', open: 'active', done: 'completed', failed: 'error', cancelled: 'completed' } as const
