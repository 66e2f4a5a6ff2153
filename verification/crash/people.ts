import { setTimeout as delay } from 'node:timers/promises'
import type { Action, EventDataOf } from '@countersign/core'
import type { ApiAnswer } from '../testing/api-client.ts'
import { carryOutAsClient } from './client-executor.ts'
import type { Door, Person } from './door.ts'
import type { Journal, SentDecision } from './journal.ts'
import type { Fate, PlannedCall, Route } from './plan.ts'

/** The persons of a world: one reads the inbox and decides as planned, the other gets in the way. */
export interface People {
  readonly first: Person
  readonly second: Person
  /** Tells them of an action that waits. */
  see(action: Action): void
  /** Tells them that an action moved. */
  learn(update: EventDataOf<'action_update'>): void
  /** How many things they have begun and not finished. */
  readonly busy: number
}

export interface PeopleOptions {
  door: Door
  first: Person
  second: Person
  journal: Journal
  /** Returns the plan of a call; undefined for a call of another world. */
  planOf(what: string): PlannedCall | undefined
}

/** A little more than a word needs, because this clock and the database's may differ. */
const READING_MS = 1_100

type Request = [path: string, body: unknown]

/** How each route says it. */
const SAY: Record<Route, (action: Action, verdict: SentDecision['verdict'], stops: boolean) => Request> = {
  decision: ({ id, revision, digest }, verdict, stops) => [
    `/api/actions/${id}/decision`,
    { verdict, revision, digest, ...(stops && { stop: true }) },
  ],
  chat: ({ id }, verdict) => ['/api/chat/approve', { approvalId: id, approved: verdict === 'approve' }],
  session: ({ id, sessionId }, verdict) => [
    `/api/sessions/${sessionId}/approve`,
    { verdict: verdict === 'approve' ? 'approve' : 'reject', actionId: id },
  ],
  tool: ({ id, revision, digest }, verdict, stops) => [
    `/api/approve-tool/${id}`,
    { approved: verdict === 'approve', revision, digest, ...(stops && { stop: true }) },
  ],
  word: ({ id, sessionId, revision, digest }, verdict) => [
    `/api/sessions/${sessionId}/messages`,
    {
      content: `${verdict === 'approve' ? 'approve' : 'reject'} ${id}`,
      shown: [{ actionId: id, revision, digest, forMs: READING_MS }],
    },
  ],
}

export function openPeople({ door, first, second, journal, planOf }: PeopleOptions): People {
  let busy = 0
  const known = new Map<string, PlannedCall>()
  const seen = new Set<string>()

  function begin(work: Promise<unknown>): void {
    busy++
    void work.finally(() => busy--)
  }

  async function decide(who: Person, action: Action, verdict: SentDecision['verdict'], fate: Fate): Promise<void> {
    // The routes of a session do not apply to an action without a session.
    const route = action.sessionId === null && ['session', 'word', 'tool'].includes(fate.route) ? 'decision' : fate.route
    const stops = fate.stops && verdict === 'decline' && ['decision', 'tool'].includes(route)
    // A typed word counts only after a person has had the time to read.
    if (route === 'word') await delay(READING_MS)
    const [path, body] = SAY[route](action, verdict, stops)
    const headers: Record<string, string> = fate.isKeyed ? { 'idempotency-key': `${who.name}.${action.id}` } : {}
    const sent: SentDecision = { actionId: action.id, by: who.id, verdict, fate: 'unanswered', stops }
    journal.decisions.push(sent)
    const answer = await door.send(who, 'POST', path, { body, headers })
    // Once nothing waits any more, a command word is a message, and only those who write in the session may send one.
    if (answer?.status === 403 && route === 'word') return
    if (answer) sent.fate = isTaken(answer, route, action.id) ? 'accepted' : refusal(answer, door, action.id)
    // Said again behind an answer that was lost, a word without a key means something else: nobody was told that it did not count.
    if (sent.fate === 'refused' && route === 'word') sent.fate = 'unanswered'
  }

  async function send(actionId: string, what: 'retry' | 'verify' | 'resolve', body?: unknown): Promise<void> {
    const headers = { 'idempotency-key': `${what}.${actionId}` }
    await door.send(first, 'POST', `/api/actions/${actionId}/${what}`, { ...(body !== undefined && { body }), headers })
  }

  return {
    first,
    second,
    see(action) {
      const planned = planOf(String(action.arguments.what))
      if (!planned || seen.has(action.id)) return
      seen.add(action.id)
      known.set(action.id, planned)
      const { fate } = planned
      if (action.state !== 'proposed' || fate.verdict === 'leave') return
      begin(decide(first, action, fate.verdict, fate))
      if (fate.isContested) begin(decide(second, action, fate.verdict === 'approve' ? 'decline' : 'approve', fate))
    },
    learn({ proposalId, state }) {
      const planned = known.get(proposalId)
      if (!planned || journal.resolved.has(proposalId)) return
      const { retries, unknown, vanishes } = planned.fate
      if (state === 'approved' && planned.tool === 'client') begin(carryOutAsClient(door, first, proposalId, vanishes))
      if (state === 'failed' && retries && planned.tool !== 'client' && !journal.retried.has(proposalId)) {
        journal.retried.add(proposalId)
        begin(send(proposalId, 'retry'))
      } else if (state === 'outcome_unknown' && unknown === 'resolve') {
        journal.resolved.add(proposalId)
        begin(send(proposalId, 'resolve', { outcome: 'succeeded', note: 'I looked, it is there.' }))
      } else if (state === 'outcome_unknown' && unknown === 'verify') begin(send(proposalId, 'verify'))
    },
    get busy() {
      return busy
    },
  }
}

/** A typed word is always taken as a message; whether it decided stands in the answer. */
const isTaken = ({ status, body }: ApiAnswer, route: Route, actionId: string): boolean =>
  status < 300 && (route !== 'word' || (body.decided ?? []).some((action: Action) => action.id === actionId))

/** A refusal has to say what was there first. */
function refusal({ status, body, text }: ApiAnswer, door: Door, actionId: string): SentDecision['fate'] {
  const isTold = status === 202 || (status === 409 && body.action?.id === actionId && body.action.state !== 'proposed')
  if (!isTold && status < 500) door.complaints.push(`a decision of ${actionId} was answered ${status}: ${text.slice(0, 300)}`)
  return 'refused'
}
