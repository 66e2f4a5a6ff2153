import { DEFAULT_REQUIREMENTS, durationMs, higherRisk, matchesGlob, overrules, type PolicyRule } from '@countersign/core'
import type { Relations } from './condition-relation.ts'

/** Two rules that ask about the same calls, of which the earlier one asks for less: it counts. */
export interface RuleConflict {
  /** True where the earlier rule matches every call that the later one matches; false where it may. */
  isCertain: boolean
  /** The requirements of the earlier rule where the later one is stricter, each as a part of a sentence. */
  less: readonly string[]
}

/** Returns the conflict of two rules about a tool that both are about; undefined where they have none. */
export function findConflict(earlier: PolicyRule, later: PolicyRule, relations: Relations): RuleConflict | undefined {
  if (earlier.verdict !== 'ask' || later.verdict !== 'ask') return undefined
  const less = [...whatIsLess(earlier, later)]
  if (less.length === 0 || !mayMeet(earlier, later, relations)) return undefined
  const isCertain = overrules(earlier, later, true, relations.covers)
  // Of two rules for different people neither is the stricter, and no order of theirs would please.
  const isStricterToo = [...whatIsLess(later, earlier)].length > 0
  return isCertain || !isStricterToo ? { isCertain, less } : undefined
}

function mayMeet({ match: one }: PolicyRule, { match: other }: PolicyRule, { areDisjoint }: Relations): boolean {
  if (one.when !== undefined && other.when !== undefined && areDisjoint(one.when, other.when)) return false
  const [agent, another] = [one.agent, other.agent]
  if (agent === undefined || another === undefined) return true
  return matchesGlob(agent, another) || matchesGlob(another, agent) || (agent.includes('*') && another.includes('*'))
}

/** Yields the requirements of an earlier rule where the later one is stricter, each as a part of a sentence. */
export function* whatIsLess(earlier: PolicyRule, later: PolicyRule): Generator<string> {
  const its = { ...DEFAULT_REQUIREMENTS, ...earlier.requires }
  const wanted = { ...DEFAULT_REQUIREMENTS, ...later.requires }
  if (its.quorum < wanted.quorum) yield `its quorum of ${its.quorum} applies, not ${wanted.quorum}`
  if (its.declineQuorum > wanted.declineQuorum)
    yield `it takes ${its.declineQuorum} declines to end the action, not ${wanted.declineQuorum}`
  if (its.roles.some((role) => !wanted.roles.includes(role))) {
    yield `people with the role ${its.roles.join(' or ')} may vote, not only ${wanted.roles.join(' or ')}`
  }
  if (wanted.notRequester && !its.notRequester) yield 'the person who asked may vote'
  if (msOf(its.grace) < msOf(wanted.grace)) {
    yield `the action starts ${its.grace === undefined ? 'at once' : `after ${its.grace}`}, not after ${wanted.grace}`
  }
  const [risk, wantedRisk] = [earlier.risk, later.risk]
  if (wantedRisk !== undefined && risk !== wantedRisk && (risk === undefined || higherRisk(risk, wantedRisk) === wantedRisk)) {
    yield `the risk is ${risk ?? 'that of the tool'}, not ${wantedRisk}`
  }
}

const msOf = (duration = ''): number => durationMs(duration) ?? 0

/**
 * Returns a conflict in words that read on after a colon.
 * @param part The tools that both rules are about, where the later one is about more.
 */
export function tellConflict(
  earlier: string,
  { isCertain, less }: RuleConflict,
  part: { shared: number; tools: number } | undefined,
): string {
  const where = part === undefined ? '' : ` for ${part.shared} of its ${part.tools} tools`
  const whatIsLess = less.join(', and ')
  return isCertain
    ? `the rule "${earlier}" above matches first${where}: ${whatIsLess}`
    : `the rule "${earlier}" above may match the same calls${where}: then ${whatIsLess}`
}
