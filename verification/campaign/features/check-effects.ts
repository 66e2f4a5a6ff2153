import { digestOf } from '../../../packages/server/src/gate/propose/digest.ts'
import { type Case, type Evidence, gatherCases, said } from './cases.ts'
import { LOCAL } from './kinds.ts'
import { countLocalEffects } from './local-effects.ts'
import type { How } from './targets-file.ts'

/** After these nobody can say whether the target acted. */
const AMBIGUOUS: ReadonlySet<How> = new Set<How>(['drop', 'lose', 'late'])

/** A sentence for each way in which actions and their effects contradict each other (I1, I3, I4). */
export function checkEffects(evidence: Evidence): string[] {
  const cases = gatherCases(evidence)
  const local = countLocalEffects(evidence)
  return [
    ...doubles(cases, evidence),
    ...orphans(cases, evidence),
    ...cases.flatMap((one) => {
      const effects = LOCAL.has(one.kind) ? (local.get(one.what) ?? 0) : one.effects.length
      return [...effectProblems(one, effects), ...bindingProblems(one)].map(said(one))
    }),
  ]
}

/** A call that was made once was proposed once, whatever died in between. */
function doubles(cases: readonly Case[], { journal }: Evidence): string[] {
  const named = new Set(journal.gateway.flatMap(({ what, isNamed }) => (isNamed ? [what] : [])))
  return [...Map.groupBy(cases, ({ what }) => what)].flatMap(([what, same]) => {
    // An answer that was handed to a connection counts as delivered: who made the call again without naming it made another one.
    const isAllowed = same[0]?.kind === 'gateway' && !named.has(what) && same.filter(({ row }) => row.state === 'proposed').length === 1
    return same.length > 1 && !isAllowed ? [`${what} was proposed ${same.length} times: ${same.map(({ row }) => row.id).join(', ')}`] : []
  })
}

function orphans(cases: readonly Case[], { entries }: Evidence): string[] {
  const known = new Set(cases.map(({ what }) => what))
  return entries.flatMap(({ what, kind, service, body }) =>
    known.has(what) ? [] : [`a ${kind} at ${service} for ${what} belongs to no action: ${body.slice(0, 200)}`],
  )
}

function effectProblems({ row, how, requests, deeds, effects: at }: Case, effects: number): string[] {
  const problems: string[] = []
  if (effects > 1) problems.push(`${effects} effects`)
  if (row.state === 'succeeded' && effects !== 1) problems.push(`succeeded with ${effects} effects`)
  if (row.state === 'failed' && effects !== 0) problems.push('called failed, although it acted')
  const isUndone = ['proposed', 'approved', 'declined', 'expired', 'cancelled'].includes(row.state)
  if (isUndone && requests.length + effects > 0) problems.push(`${requests.length} requests and ${effects} effects all the same`)
  const wasCut = deeds.some(({ kind }) => kind === 'taken_over')
  const isUnknown = row.state === 'outcome_unknown'
  if (isUnknown && !wasCut && !AMBIGUOUS.has(how)) problems.push('its outcome is unknown, although no attempt was cut')
  const keys = new Set(requests.map(({ key }) => key))
  const isKeyed = row.tool.endsWith('Keyed')
  if (isKeyed && keys.size > 1) problems.push(`${keys.size} keys for one decision`)
  if (!isKeyed && requests.length > 1) problems.push(`${requests.length} requests without anything that tells a repeat`)
  for (const { atMs } of at) if (atMs < row.created_at) problems.push('acted before it was proposed')
  return problems
}

/** Checks that the request sent is the one stored on the action. */
function bindingProblems({ row, requests }: Case): string[] {
  const problems: string[] = []
  const bound = digestOf(row)
  if (bound !== row.digest) problems.push(`its digest is ${row.digest}, its bytes give ${bound}`)
  const { note } = JSON.parse(row.arguments)
  for (const { service, body } of requests) {
    const isOurs = service === 'keyed' || service === 'plain'
    if (isOurs && JSON.parse(body).note !== note) problems.push(`${body} was sent, "${note}" was approved`)
  }
  return problems
}
