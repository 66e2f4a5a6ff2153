import { canonicalJson } from '@countersign/core'
import { digestOf } from '../../packages/server/src/gate/propose/digest.ts'
import type { ActionRow, VoteRow } from '../../packages/server/src/store/index.ts'
import type { Rows } from './database.ts'
import type { Journal } from './journal.ts'
import type { How, LedgerEntry } from './ledger-file.ts'

/** After these nobody can say whether the ledger acted. */
const AMBIGUOUS: ReadonlySet<How> = new Set(['slow', 'late', 'very_late', 'drop', 'bad_gateway', 'cut', 'reset_early', 'reset_late'])

/** The route of the ledger behind each tool. */
const ROUTE_OF: Record<string, string> = {
  keyed: 'keyed',
  allowed: 'keyed',
  unkeyed: 'unkeyed',
  brief: 'unkeyed',
  client: 'unkeyed',
  probed: 'probed',
}

/** One action with everything that was said about it on any side. */
interface Case {
  row: ActionRow
  what: string
  votes: VoteRow[]
  requests: LedgerEntry[]
  effects: LedgerEntry[]
  replays: LedgerEntry[]
}

export interface CheckInput {
  rows: Rows
  ledger: readonly LedgerEntry[]
  journal: Journal
}

/** A sentence for each way in which actions, decisions and effects contradict each other (I1–I5, I8). */
export function checkActions({ rows, ledger, journal }: CheckInput): string[] {
  const cases = gather(rows, ledger)
  const byId = new Map(cases.map((one) => [one.row.id, one]))
  const stopped = stoppedSessions(byId, journal)
  return [
    ...orphans(cases, ledger),
    ...doubles(cases),
    ...cases.flatMap((one) => [...effectProblems(one), ...outcomeProblems(one), ...bindingProblems(one)].map(said(one))),
    ...decisionProblems(byId, journal),
    ...cases.flatMap((one) => voteProblems(one, journal, stopped).map(said(one))),
  ]
}

const said =
  ({ row, what }: Case) =>
  (problem: string) =>
    `${what} (${row.id}, ${row.tool}, ${row.state}): ${problem}`

const whatOf = (row: ActionRow): string => String(JSON.parse(row.arguments).what)

function gather({ actions, votes }: Rows, ledger: readonly LedgerEntry[]): Case[] {
  const entries = Map.groupBy(ledger, ({ what }) => what)
  const cast = Map.groupBy(votes, ({ action_id }) => action_id)
  return actions.map((row) => {
    const what = whatOf(row)
    const mine = entries.get(what) ?? []
    const of = (kind: LedgerEntry['kind']) => mine.filter((entry) => entry.kind === kind)
    return { row, what, votes: cast.get(row.id) ?? [], requests: of('request'), effects: of('effect'), replays: of('replay') }
  })
}

/** Checks that each entry of the ledger belongs to an action, under that action's key. */
function orphans(cases: readonly Case[], ledger: readonly LedgerEntry[]): string[] {
  const byWhat = new Map(cases.map((one) => [one.what, one]))
  return ledger.flatMap(({ what, key, kind }) =>
    key.startsWith(`${byWhat.get(what)?.row.id}.`) ? [] : [`a ${kind} for ${what} under the key ${key} belongs to no action`],
  )
}

/** A call that was planned once was proposed once, whatever died in between. */
const doubles = (cases: readonly Case[]): string[] =>
  [...Map.groupBy(cases, ({ what }) => what)].flatMap(([what, same]) =>
    same.length > 1 ? [`${what} was proposed ${same.length} times: ${same.map(({ row }) => row.id).join(', ')}`] : [],
  )

function effectProblems({ row, requests, effects }: Case): string[] {
  const problems: string[] = []
  if (effects.length > 1) problems.push(`${effects.length} effects`)
  const isAllowed = row.policy.includes('"verdict":"allow"')
  if (requests.length > 0 && ['proposed', 'declined', 'expired', 'cancelled'].includes(row.state))
    problems.push('reached the ledger all the same')
  if (requests.length > 0 && !isAllowed && row.attempt === 0) problems.push('reached the ledger without an attempt on record')
  if (row.tool !== 'keyed' && row.tool !== 'allowed') {
    const keys = new Set(requests.map(({ key }) => key))
    if (keys.size !== requests.length) problems.push(`${requests.length} requests under ${keys.size} keys`)
    if (keys.size > row.attempt) problems.push(`${keys.size} attempts at the ledger, ${row.attempt} on record`)
  }
  return problems
}

/** Checks that the outcome in the row matches the ledger. */
function outcomeProblems({ row, requests, effects }: Case): string[] {
  if (row.effect === 'read' || row.resolution !== null) return []
  if (row.state === 'succeeded' && effects.length !== 1) return [`succeeded with ${effects.length} effects`]
  if (row.state === 'failed' && effects.length !== 0) return ['called failed, although it acted']
  const last = requests.at(-1)
  if (['unkeyed', 'brief'].includes(row.tool) && last && AMBIGUOUS.has(last.how) && row.state !== 'outcome_unknown') {
    return [`the ledger answered ${last.how}, so nobody can know`]
  }
  return []
}

/** Checks that each request was sent as it was decided, and after the decision (I1, I3). */
function bindingProblems({ row, what, votes, requests }: Case): string[] {
  const problems: string[] = []
  const bound = digestOf(row)
  if (bound !== row.digest) problems.push(`its digest is ${row.digest}, its bytes give ${bound}`)
  const approved = votes.find(({ verdict, revision }) => verdict === 'approve' && revision === row.revision)
  const isAllowed = row.policy.includes('"verdict":"allow"')
  for (const { body, atMs, route } of requests) {
    if (body !== undefined && body !== canonicalJson({ what })) problems.push(`the ledger was sent ${body}`)
    if (!isAllowed && !approved) problems.push('was sent without an approval')
    else if (approved && atMs < approved.created_at) problems.push(`was sent ${approved.created_at - atMs} ms before it was approved`)
    if (route !== ROUTE_OF[row.tool]) problems.push(`was sent to ${route}`)
  }
  return problems
}

/** Checks that an acknowledged decision is stored and took effect, and that a refused one is not stored (I2, I8). */
function decisionProblems(byId: ReadonlyMap<string, Case>, journal: Journal): string[] {
  return journal.decisions.flatMap(({ actionId, by, verdict, fate }) => {
    const one = byId.get(actionId)
    if (!one) return [`the action ${actionId} that somebody decided is gone`]
    const isThere = one.votes.some((vote) => vote.principal_id === by && vote.verdict === verdict)
    if (fate === 'accepted' && !isThere) return [said(one)(`the ${verdict} of ${by} was acknowledged and is lost`)]
    if (fate === 'refused' && isThere) return [said(one)(`the ${verdict} of ${by} was refused and counts`)]
    if (fate !== 'accepted') return []
    const { state } = one.row
    if (verdict === 'decline' && state !== 'declined') return [said(one)('was declined')]
    // An approved action waits for its client as long as that takes.
    const isUndone = ['proposed', 'declined', 'expired', ...(one.row.executor === 'server' ? ['approved'] : [])].includes(state)
    return verdict === 'approve' && isUndone ? [said(one)('was approved and not acted upon')] : []
  })
}

/** Sessions whose run was ended by somebody, or by time. */
function stoppedSessions(byId: ReadonlyMap<string, Case>, { cancelled, decisions }: Journal): Set<string> {
  const stopped = new Set(cancelled)
  for (const { actionId, verdict, stops } of decisions) {
    const row = byId.get(actionId)?.row
    if (row?.session_id && verdict === 'decline' && (stops || row.agent === 'strict')) stopped.add(row.session_id)
  }
  // For that agent, what nobody decided in time ends the run, too.
  for (const { row } of byId.values()) if (row.session_id && row.agent === 'strict' && row.state === 'expired') stopped.add(row.session_id)
  return stopped
}

/** At most one vote counts, and somebody sent it; what was withdrawn, somebody withdrew. */
function voteProblems({ row, votes }: Case, { decisions }: Journal, stopped: ReadonlySet<string>): string[] {
  const problems: string[] = []
  if (votes.length > 1) problems.push(`${votes.length} votes count`)
  for (const vote of votes) {
    const isKnown = decisions.some((sent) => sent.actionId === row.id && sent.by === vote.principal_id && sent.verdict === vote.verdict)
    if (!isKnown) problems.push(`nobody sent the ${vote.verdict} of ${vote.principal_id}`)
  }
  if (row.state === 'cancelled' && !stopped.has(row.session_id ?? '')) problems.push('nobody cancelled it')
  return problems
}

/** How often each kind of ending occurred: a campaign that never saw one has not shown anything about it. */
export function countOutcomes({ rows, ledger, journal }: CheckInput): Record<string, number> {
  const counts: Record<string, number> = {}
  const count = (name: string, isSo: boolean) => {
    counts[name] = (counts[name] ?? 0) + (isSo ? 1 : 0)
  }
  for (const { row, requests, effects, replays } of gather(rows, ledger)) {
    const isUnkeyed = row.tool === 'unkeyed' || row.tool === 'brief'
    const isProbed = row.tool === 'probed'
    const isKilled = row.error?.includes('The server stopped') === true
    const isKeyed = row.tool === 'keyed'
    const isUnknown = row.state === 'outcome_unknown'
    const last = requests.at(-1)?.how
    const isUnclear = last !== undefined && AMBIGUOUS.has(last)
    count('keyed succeeded', isKeyed && row.state === 'succeeded')
    count('keyed sent again', isKeyed && requests.length > new Set(requests.map(({ key }) => key)).size)
    count('keyed recognised by the ledger', replays.length > 0)
    count('keyed failed', isKeyed && row.state === 'failed')
    count('unkeyed succeeded', isUnkeyed && row.state === 'succeeded')
    count('unkeyed failed', isUnkeyed && row.state === 'failed')
    count('unkeyed unknown, unclear answer', isUnkeyed && isUnknown && isUnclear)
    count('unkeyed unknown, killed before it was sent', isUnkeyed && isUnknown && isKilled && requests.length === 0)
    count('unkeyed unknown, killed after it acted', isUnkeyed && isUnknown && isKilled && !isUnclear && effects.length === 1)
    count('found out by the tool: done', isProbed && row.state === 'succeeded' && isUnclear)
    count('found out by the tool: not done', isProbed && row.state === 'failed' && isUnclear)
    count('carried out by a client', row.tool === 'client' && row.state === 'succeeded')
    count('lost by a client', row.tool === 'client' && isUnknown)
    count('said by a person', row.resolution !== null)
    count('expired', row.state === 'expired')
    count('allowed by policy succeeded', row.tool === 'allowed' && row.state === 'succeeded')
    count('denied by policy', row.tool === 'denied' && row.state === 'declined')
    count('declined by a person', row.tool !== 'denied' && row.state === 'declined')
    count('cancelled', row.state === 'cancelled')
    count('left waiting', row.state === 'proposed')
    count('tried again by a person', journal.retried.has(row.id) && row.attempt > 1)
    count('read', row.effect === 'read' && row.state === 'succeeded')
  }
  for (const { fate, verdict } of journal.decisions) {
    count(`${verdict} acknowledged`, fate === 'accepted')
    count('decision refused', fate === 'refused')
    count('decision without an answer', fate === 'unanswered')
  }
  return counts
}
