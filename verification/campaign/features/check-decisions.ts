import { canonicalJson } from '@countersign/core'
import { type Case, type Evidence, gatherCases, said } from './cases.ts'
import type { SentVote } from './journal.ts'

interface Requirements {
  quorum: number
  declineQuorum: number
  roles: string[]
}

/** A sentence for each vote, grant or delegation that did more or less than it says (I1, I2, I8, I10). */
export function checkDecisions(evidence: Evidence): string[] {
  const cases = gatherCases(evidence)
  const byId = new Map(cases.map((one) => [one.row.id, one]))
  return [
    ...cases.flatMap((one) => [...authorityProblems(one, evidence), ...countProblems(one)].map(said(one))),
    ...acknowledgedProblems(byId, evidence),
    ...grantProblems(cases, evidence),
  ]
}

/** The votes that count: one for each right, of two with the same right the owner's own. */
function distinct({ votes }: Case, verdict: 'approve' | 'decline') {
  const lentFirst = votes.filter((vote) => vote.verdict === verdict).sort((a, b) => Number(a.for_id === null) - Number(b.for_id === null))
  return [...new Map(lentFirst.map((vote) => [vote.for_id ?? vote.principal_id, vote])).values()]
}

const requirementsOf = ({ row }: Case): Requirements => ({ declineQuorum: 1, ...JSON.parse(row.requires) })

/** Checks that each started action had a grant, or enough approvals of its revision by people who may approve it. */
function authorityProblems(one: Case, { rows, journal }: Evidence): string[] {
  const { row, votes, deeds, requests } = one
  const problems: string[] = []
  const rolesOf = new Map(rows.principals.map(({ id, roles }) => [id, JSON.parse(roles) as string[]]))
  for (const { principal_id, verdict, revision } of votes) {
    const isSent = journal.votes.some((sent) => sent.actionId === row.id && sent.by === principal_id && sent.verdict === verdict)
    if (!isSent) problems.push(`nobody sent the ${verdict} of ${principal_id} on revision ${revision}`)
  }
  const begun = deeds.find(({ kind }) => kind === 'executing')
  if (!begun) return requests.length > 0 ? [...problems, 'was sent and had never begun'] : problems
  if (row.grant_id !== null) return problems
  const { quorum, roles } = requirementsOf(one)
  const approvals = distinct(one, 'approve')
  if (approvals.length < quorum) problems.push(`began with ${approvals.length} approvals of ${quorum}`)
  for (const { principal_id, for_id } of approvals) {
    const held = rolesOf.get(for_id ?? principal_id) ?? []
    if (!roles.some((role) => held.includes(role))) problems.push(`${for_id ?? principal_id} has none of the roles ${roles.join(', ')}`)
    if (for_id !== null) problems.push(...lentProblems(one, principal_id, for_id, begun.id, rows))
  }
  const first = requests[0]
  const decidedAt = Math.max(...approvals.map(({ created_at }) => created_at))
  if (first && first.atMs < decidedAt) problems.push(`was sent ${decidedAt - first.atMs} ms before it was decided`)
  return problems
}

/** A vote in somebody's place counts only where that was lent, and was not over when the action began. */
function lentProblems({ row }: Case, to: string, from: string, begunId: number, { delegations, deeds }: Evidence['rows']): string[] {
  const lent = delegations.filter(({ from_id, to_id }) => from_id === from && to_id === to)
  if (lent.length === 0) return [`${to} voted for ${from}, who lent nothing`]
  const isStanding = lent.some(({ id, created_at, revoked_at }) => {
    if (created_at > row.updated_at) return false
    if (revoked_at === null) return true
    const ended = deeds.find(({ kind, data }) => kind === 'delegation_ended' && data?.includes(id) === true)
    return ended !== undefined && ended.id > begunId
  })
  return isStanding ? [] : [`began by the vote of ${to} for ${from}, which was over`]
}

/** Checks that the state follows the votes of enough people. */
function countProblems(one: Case): string[] {
  const { row, kind } = one
  const { quorum, declineQuorum } = requirementsOf(one)
  const [approvals, declines] = [distinct(one, 'approve').length, distinct(one, 'decline').length]
  if (row.state === 'declined' && declines < declineQuorum) return [`declined by ${declines} of ${declineQuorum}`]
  if (row.state === 'declined') return []
  if (declines >= declineQuorum) return [`${declines} declined it`]
  // A delegation may have expired since: then the vote remains but does not count.
  if (kind === 'delegation') return []
  return row.state === 'proposed' && approvals >= quorum ? [`waits with ${approvals} approvals of ${quorum}`] : []
}

/** Checks that an acknowledged vote is stored, and that a refused vote is not. */
function acknowledgedProblems(byId: ReadonlyMap<string, Case>, { rows, journal }: Evidence): string[] {
  const byVoter = Map.groupBy(journal.votes, ({ actionId, by }) => `${actionId} ${by}`)
  return [...byVoter.values()].flatMap((sent) => {
    const one = byId.get(sent[0]?.actionId ?? '')
    if (!one) return [`the action ${sent[0]?.actionId} that somebody decided is gone`]
    return [...lostProblems(one, sent, rows), ...sent.flatMap((vote) => editProblems(one, vote, rows))].map(said(one))
  })
}

function lostProblems({ row, votes }: Case, sent: readonly SentVote[], { votes: all }: Evidence['rows']): string[] {
  const problems: string[] = []
  for (const [index, { by, verdict, revision, fate, edit }] of sent.entries()) {
    const later = sent.slice(index + 1).filter((other) => other.revision === revision)
    const isReplaced = later.some((other) => other.fate !== 'refused' && other.verdict !== verdict)
    const landed = edit === undefined ? revision : revision + 1
    const isThere = all.some(
      (vote) => vote.action_id === row.id && vote.principal_id === by && vote.verdict === verdict && vote.revision === landed,
    )
    const isVoid = row.revision > landed
    if (fate === 'accepted' && edit === undefined && !isThere && !isReplaced && !isVoid)
      problems.push(`the ${verdict} of ${by} was acknowledged and is lost`)
    const isSaidElse = sent.some((other) => other.fate !== 'refused' && other.verdict === verdict)
    const counts = votes.some((vote) => vote.principal_id === by && vote.verdict === verdict && vote.revision === revision)
    if (fate === 'refused' && counts && !isSaidElse) problems.push(`the ${verdict} of ${by} was refused and counts`)
  }
  return problems
}

/** An edit that was acknowledged is the next revision. */
function editProblems({ row }: Case, { edit, fate, revision, by }: SentVote, { revisions }: Evidence['rows']): string[] {
  if (edit === undefined || fate !== 'accepted') return []
  const later = revisions.find((one) => one.action_id === row.id && one.revision === revision + 1)
  const args = row.revision === revision + 1 ? row.arguments : later?.arguments
  return args !== undefined && canonicalJson(JSON.parse(args)) === edit ? [] : [`the edit of ${by} was acknowledged and is lost`]
}

/** A grant allowed what it said, and nothing behind its end. */
function grantProblems(cases: readonly Case[], { rows, journal }: Evidence): string[] {
  const problems: string[] = []
  for (const { id, made_from, used } of rows.grants) {
    const allowed = cases.filter(({ row, deeds }) => row.grant_id === id && deeds.some(({ kind }) => kind === 'executing'))
    const uses = journal.uses.get(made_from ?? '') ?? 0
    if (allowed.length > uses || used > uses)
      problems.push(`the grant ${id} is for ${uses} calls, counts ${used} and let ${allowed.length} run`)
    const from = cases.find(({ row }) => row.id === made_from)
    const batch = from && JSON.parse(from.row.arguments).batch
    for (const one of allowed) if (JSON.parse(one.row.arguments).batch !== batch) problems.push(said(one)(`is not what ${id} allows`))
  }
  for (const one of cases) {
    const ended = journal.afterRevoke.get(one.what)
    if (ended !== undefined && one.row.grant_id === ended) problems.push(said(one)(`was allowed by ${ended}, which was revoked before`))
  }
  return problems
}
