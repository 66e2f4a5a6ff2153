import type { PolicyResult, Requirements } from '@countersign/core'
import { type ActionRow, actions, principals, type Tx } from '../store/index.ts'
import { mayDecide } from './caller.ts'
import type { GateParts } from './gate.ts'
import { evaluateAgain } from './policy.ts'
import type { Why } from './revise.ts'

/**
 * Why the decision about an action does not hold any more, or undefined while it does: what policy says now is no stricter, and enough of
 * those who decided may still do so. Asked in the transaction that starts it, so that nothing comes in between.
 */
export function* whyNotDecided(parts: Pick<GateParts, 'tools' | 'policies' | 'clock'>, row: ActionRow): Tx<Why | undefined> {
  const tool = parts.tools.byName(row.tool)
  if (!tool) return undefined
  const decided: PolicyResult = JSON.parse(row.policy)
  const now = yield* evaluateAgain(parts, row, tool)
  if (now.verdict === 'deny') return { why: 'policy', reason: `${now.reason} now.` }
  if (decided.verdict === 'allow') {
    // What a person granted is asked by policy, as it was then.
    if (now.verdict === 'allow' || decided.rule === 'approve all') return undefined
    return { why: 'policy', reason: `${now.reason} now.` }
  }
  const requires: Requirements = JSON.parse(row.requires)
  const asked = now.verdict === 'ask' ? asBefore(now, requires) : requires
  if ((yield* countApprovals(row, asked)) >= asked.quorum) return undefined
  if ((yield* countApprovals(row, requires)) >= requires.quorum) {
    return { why: 'policy', reason: `${now.reason} now, and asks for more than its approval.` }
  }
  return { why: 'decider', reason: 'Not enough of those who approved it may still decide about it.' }
}

/** What policy asks for now, of whom it also asked then: others that were asked in time may have answered. */
function asBefore({ requires, escalateTo = [] }: PolicyResult, { roles }: Requirements): Requirements {
  return { ...requires, roles: [...requires.roles, ...escalateTo.filter((role) => roles.includes(role))] }
}

function* countApprovals(row: ActionRow, { roles }: Requirements): Tx<number> {
  let standing = 0
  for (const vote of yield* actions.votesOf.all({ action_id: row.id })) {
    if (vote.revision !== row.revision || vote.verdict !== 'approve') continue
    const voter = yield* principals.findPrincipal.first({ id: vote.principal_id })
    if (voter && mayDecide(principals.readPrincipal(voter), roles)) standing++
  }
  return standing
}
