import type { PolicyResult, Requirements } from '@countersign/core'
import { isTrueOf } from '../policy/index.ts'
import { type ActionRow, type Tx, votes } from '../store/index.ts'
import { countVotes } from './count.ts'
import type { GateParts } from './gate.ts'
import { whyNotGranted } from './grants.ts'
import { callOf, evaluateAgain, riskOf } from './policy.ts'
import type { Why } from './revise.ts'
import { keyOf, requirementsOf } from './rights.ts'

/**
 * Why the decision about an action does not hold any more, or undefined while it does: what policy says now is no stricter, and enough of
 * those who decided may still do so. Asked in the transaction that starts it, so that nothing comes in between.
 */
export function* whyNotDecided(parts: Pick<GateParts, 'tools' | 'policies' | 'clock'>, row: ActionRow): Tx<Why | undefined> {
  const tool = parts.tools.byName(row.tool)
  if (!tool) return undefined
  const decided: PolicyResult = JSON.parse(row.policy)
  const nowMs = parts.clock.nowMs()
  const call = yield* callOf(row, tool, nowMs)
  const now = yield* evaluateAgain(parts, call)
  if (now.verdict === 'deny') return { why: 'policy', reason: `${now.reason} now.` }
  if (decided.verdict === 'allow') {
    if (now.verdict === 'allow') return undefined
    if (row.grant_id === null) return { why: 'policy', reason: `${now.reason} now.` }
    const granted = {
      ...row,
      requires: now.requires,
      risk: riskOf(tool.effect, now).level,
      fits: (condition: string) => isTrueOf(condition, call),
    }
    const fault = yield* whyNotGranted(row.grant_id, granted, nowMs)
    return fault === undefined ? undefined : { why: 'grant', reason: `It was allowed without asking, and is not any more: ${fault}.` }
  }
  const requires = requirementsOf(row)
  const asked = now.verdict === 'ask' ? asBefore(now, requires) : requires
  const cast = yield* votes.votesOf.all(keyOf(row))
  if ((yield* countVotes(row, asked, cast, nowMs)).outcome === 'approve') return undefined
  if ((yield* countVotes(row, requires, cast, nowMs)).outcome === 'approve') {
    return { why: 'policy', reason: `${now.reason} now, and asks for more than its approval.` }
  }
  return { why: 'decider', reason: 'Not enough of those who approved it may still decide about it.' }
}

/** What policy asks for now, of whom it also asked then: others that were asked in time may have answered. */
function asBefore({ requires, escalateTo = [] }: PolicyResult, { roles }: Requirements): Requirements {
  return { ...requires, roles: [...requires.roles, ...escalateTo.filter((role) => roles.includes(role))] }
}
