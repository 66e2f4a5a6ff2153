import { setTimeout as delay } from 'node:timers/promises'
import type { Door, Person } from './door.ts'
import { type Follower, follow } from './follow.ts'
import type { Journal } from './journal.ts'
import { argumentsOf, type PlannedCall, type PlannedSession, type RoundPlan } from './plan.ts'
import { planMessage } from './script.ts'

/** The clients of one round; each continues through the deaths of servers. */
export interface Workload {
  /** The readers of the round's sessions, by session. */
  readonly followers: ReadonlyMap<string, Follower>
  /** True when every client has said what it had to say. */
  isSaid(): boolean
}

export interface WorkloadOptions {
  door: Door
  who: Person
  journal: Journal
  plan: RoundPlan
}

export function startWorkload({ door, who, journal, plan }: WorkloadOptions): Workload {
  const followers = new Map<string, Follower>()

  async function talk({ name, agent, plan: first, andThen, cancelAfterMs, isRequest }: PlannedSession): Promise<void> {
    const post = async (path: string, body: unknown, key: string) => {
      const answer = await door.send(who, 'POST', path, { body, headers: { 'idempotency-key': `${name}.${key}` } })
      if (answer && answer.status >= 300 && answer.status < 500) door.complaints.push(`${path} answered ${answer.status}: ${answer.text}`)
      return answer
    }
    const created = await post('/api/sessions', { agent, title: name }, 'session')
    if (!created) return
    const sessionId: string = created.body.id
    journal.sessions.set(name, sessionId)
    followers.set(sessionId, follow({ door, who, path: `/api/sessions/${sessionId}/events` }))
    if (isRequest) {
      const request = await post('/api/agent-requests', { message: planMessage(first), sessionId }, 'first')
      const call = (time: string) => request && post(`/api/agent-requests/${request.body.requestId}/execute`, undefined, time)
      // Called for twice at once, as after a connection that broke.
      await Promise.all([call('once'), call('again')])
    } else await post(`/api/sessions/${sessionId}/messages`, { content: planMessage(first) }, 'first')
    if (andThen) await post(`/api/sessions/${sessionId}/messages`, { content: planMessage(andThen) }, 'second')
    if (cancelAfterMs === undefined) return
    await delay(cancelAfterMs)
    journal.cancelled.add(sessionId)
    await post(`/api/sessions/${sessionId}/cancel`, undefined, 'cancel')
  }

  async function propose(call: PlannedCall): Promise<void> {
    const { what, tool } = call
    const body = { tool, arguments: argumentsOf(call), agent: 'outside' }
    const answer = await door.send(who, 'POST', '/api/actions', { body, headers: { 'idempotency-key': what } })
    if (answer?.status === 201) journal.proposed.set(what, answer.body.id)
    else if (answer) door.complaints.push(`the proposal ${what} was answered ${answer.status}: ${answer.text}`)
  }

  let left = plan.sessions.length + plan.outside.length
  for (const client of [...plan.sessions.map(talk), ...plan.outside.map(propose)]) void client.finally(() => left--)
  return { followers, isSaid: () => left === 0 }
}
