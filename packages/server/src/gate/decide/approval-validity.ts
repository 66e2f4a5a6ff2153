import { type PolicyResult, type Requirements, strictestRequirements } from '@countersign/core'
import { evaluateForAll } from '../../policy/index.ts'
import { type ActionRow, type SessionRow, stored, type Tx, together, type VoteRow, votes } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { coversCall } from '../grants/covers-call.ts'
import { whyNotGranted } from '../grants/grants.ts'
import { callBy, riskOf, sessionOf } from '../policy.ts'
import { countVotes } from '../read/count.ts'
import { requestersOf } from './requesters.ts'
import type { Why } from './revise.ts'
import { keyOf, requirementsOf, withRoles } from './rights.ts'

/**
 * Why the decision about an action does not hold any more, or undefined while it does: what policy says now is no stricter, and enough of
 * those who decided may still do so. Asked in the transaction that starts it, so that nothing comes in between.
 * @param read What was read already: its session, and the votes on it.
 */
export function* approvalInvalidReason(
  deps: Pick<GateDeps, 'tools' | 'policies' | 'clock'>,
  row: ActionRow,
  { opened, cast: known }: { opened?: SessionRow | undefined; cast?: readonly VoteRow[] } = {},
): Tx<Why | undefined> {
  const tool = deps.tools.byName(row.tool)
  if (!tool) return undefined
  const decided = stored.policyOf(row)
  const nowMs = deps.clock.nowMs()
  const [requesters, session, policy, cast] = yield* together(
    requestersOf(row),
    sessionOf(row, opened),
    deps.policies.inForce(),
    decided.verdict !== 'ask' ? given([]) : known ? given(known) : votes.votesWithHolders.all(keyOf(row)),
  )
  const call = callBy(row, { tool, requesters, session, nowMs })
  const now = evaluateForAll(policy, call)
  if (now.verdict === 'deny') return { why: 'policy', reason: `${now.reason} now.` }
  if (decided.verdict === 'allow') {
    if (now.verdict === 'allow') return undefined
    if (row.grant_id === null) return { why: 'policy', reason: `${now.reason} now.` }
    const granted = {
      ...row,
      requires: now.requires,
      risk: riskOf(tool, now, call.arguments).level,
      fits: (condition: string) => coversCall(tool, condition, call),
    }
    const fault = yield* whyNotGranted(row.grant_id, granted, nowMs)
    return fault === undefined ? undefined : { why: 'grant', reason: `It was allowed without asking, and is not any more: ${fault}.` }
  }
  const requires = requirementsOf(row)
  const asked = now.verdict === 'ask' ? askedNow(now, row) : requires
  if ((yield* countVotes(row, asked, cast, nowMs)).outcome === 'approve') return undefined
  if ((yield* countVotes(row, requires, cast, nowMs)).outcome === 'approve') {
    return { why: 'policy', reason: `${now.reason} now, and asks for more than its approval.` }
  }
  return { why: 'decider', reason: 'Not enough of those who approved it may still decide about it.' }
}

/** The queries that {@link approvalInvalidReason} begins with, to be sent ahead. */
export const validityQueries = ({ policies }: Pick<GateDeps, 'policies'>, row: ActionRow): Tx<unknown>[] => [
  requestersOf(row),
  policies.inForce(),
  ...(stored.policyOf(row).verdict === 'ask' ? [votes.votesWithHolders.all(keyOf(row))] : []),
]

/** Votes that need no query. An action that policy allowed has none. */
// biome-ignore lint/correctness/useYield: a transaction that asks nothing
function* given(cast: readonly VoteRow[]): Tx<readonly VoteRow[]> {
  return cast
}

/**
 * Returns the policy's current requirements, with the roles of its escalation that could vote when the action was decided. After an edit, they
 * are at least the requirements of the time of the edit.
 */
function askedNow({ requires, escalateTo = [] }: PolicyResult, row: ActionRow): Requirements {
  const then = requirementsOf(row)
  const lists = [then.roles, ...(then.alsoRoles ?? [])]
  const now = withRoles(
    requires,
    escalateTo.filter((role) => lists.every((list) => list.includes(role))),
  )
  return row.edited_by === null ? now : strictestRequirements(then, now)
}
