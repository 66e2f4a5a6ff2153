import type { ActionQuery, ActionState, Principal } from '@countersign/client'
import { STATE_WORDS } from '@countersign/react'
import { readSearch } from '../waiting/search.ts'
import { ORDERS, orderOf } from './orders.ts'

const SETTLED: readonly ActionState[] = ['succeeded', 'failed', 'declined', 'expired', 'cancelled', 'outcome_unknown']

/** The states of the filter: each of those that an action can end in. */
export const STATE_CHOICES = SETTLED.map((state) => [state, STATE_WORDS[state].word] as const)

/** Decisions of people, or of a rule of the policy. */
export const VERDICT_CHOICES = [
  ['ask', 'People were asked'],
  ['allow', 'Allowed by policy'],
  ['deny', 'Denied by policy'],
] as const

const isSettled = (text: string | null): text is ActionState => SETTLED.some((state) => state === text)
const isVerdict = (text: string | null): text is 'ask' | 'allow' | 'deny' => VERDICT_CHOICES.some(([verdict]) => verdict === text)

/** A day of the address (`2026-11-24`) as the time at which it begins here, some days later; undefined where it names no day. */
function dayStart(text: string | null, daysLater = 0): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '') ?? []
  const ms = day === undefined ? Number.NaN : new Date(Number(year), Number(month) - 1, Number(day) + daysLater).getTime()
  return Number.isNaN(ms) ? undefined : ms
}

const iso = (ms: number): string => new Date(ms).toISOString()

/**
 * Returns the query to the server for an address of the page. The server applies every filter, so that a list, its pages and an export agree.
 * @param me Who searches (`by:me`).
 * @param nowMs When (`older:`).
 */
export function queryOf(params: URLSearchParams, me: Principal, nowMs: number): ActionQuery {
  const { words, tool, agent, risk, by, olderMs } = readSearch(params.get('q') ?? '')
  const [state, verdict] = [params.get('state'), params.get('verdict')]
  const [since, until] = [dayStart(params.get('since')), dayStart(params.get('until'), 1)]
  const isMe = by?.toLowerCase() === 'me'
  const [decider, rule, destination] = ['decider', 'rule', 'destination'].map((name) => params.get(name) || undefined)
  return {
    state: isSettled(state) ? state : SETTLED.join(','),
    order: ORDERS[orderOf(params)].order,
    ...(isVerdict(verdict) && { verdict }),
    ...(words.length > 0 && { words: words.map(quoted).join(' ') }),
    ...(tool !== undefined && { toolText: tool }),
    ...(agent !== undefined && { agentText: agent }),
    ...(risk !== undefined && { risk }),
    ...(by !== undefined && (isMe ? { requesterId: me.personId ?? me.id } : { requester: by })),
    ...(decider !== undefined && { decider }),
    ...(rule !== undefined && { rule }),
    ...(destination !== undefined && { destination }),
    ...(olderMs !== undefined && { createdBefore: iso(nowMs - olderMs) }),
    ...(since !== undefined && { settledAfter: iso(since) }),
    ...(until !== undefined && { settledBefore: iso(until) }),
  }
}

const quoted = (word: string): string => `"${word.replaceAll(/["\\]/g, String.raw`\$&`)}"`
