import { setImmediate as nextTurn } from 'node:timers/promises'
import { overrules, type PolicyDocument, type PolicyRule, type PolicyRuleReach } from '@countersign/core'
import { openRelations } from './condition-relation.ts'
import { findConflict, type RuleConflict, tellConflict } from './conflict.ts'
import { isAbout, type Subject } from './rules-about.ts'

/** The most rules that are named as the reason why another one never decides, and as those that it conflicts with. */
const MAX_NAMED = 3
/** Other requests get their turn after so many tools. */
const TOOLS_PER_TURN = 100

interface Reach {
  tools: number
  /** Tools about whose calls it may decide. */
  free: number
  by: Set<string>
  /** By the earlier rule: for how many tools. */
  conflicts: Map<PolicyRule, { conflict: RuleConflict; tools: number }>
}

/**
 * Returns for each rule of a document how many of the tools it is about, why it never decides about any call of them, where that is so, and
 * which earlier rules ask for less than it where both match a call.
 */
export async function findRuleReach({ rules }: PolicyDocument, tools: readonly Subject[]): Promise<PolicyRuleReach[]> {
  const reach = new Map(rules.map((rule): [PolicyRule, Reach] => [rule, { tools: 0, free: 0, by: new Set(), conflicts: new Map() }]))
  const pairs = comparePairs(rules)
  for (const [place, tool] of tools.entries()) {
    if (place % TOOLS_PER_TURN === 0) await nextTurn()
    const about = rules.filter((rule) => isAbout(rule, tool))
    const stricterThan = new Map(about.map((rule) => [rule, about.find((other) => other !== rule && pairs.isOverruled(rule, other))]))
    for (const [index, rule] of about.entries()) {
      const mine = reach.get(rule)
      if (!mine) continue
      mine.tools++
      const stricter = stricterThan.get(rule)
      if (stricter) mine.by.add(stricter.name)
      else mine.free++
      for (const earlier of about.slice(0, index)) {
        // Where another rule decides about all calls of one of them, these two do not meet.
        if (stricterThan.get(earlier) || (stricter && stricter !== earlier)) continue
        const conflict = pairs.conflictOf(earlier, rule)
        if (!conflict) continue
        mine.conflicts.set(earlier, { conflict, tools: (mine.conflicts.get(earlier)?.tools ?? 0) + 1 })
      }
    }
  }
  return [...reach].map(([{ name }, found]) => viewReach(name, found))
}

function viewReach(rule: string, { tools, free, by, conflicts }: Reach): PolicyRuleReach {
  const told = [...conflicts].map(([earlier, { conflict, tools: shared }]) => ({
    ...{ with: earlier.name, isCertain: conflict.isCertain },
    text: tellConflict(earlier.name, conflict, shared === tools ? undefined : { shared, tools }),
  }))
  const never: PolicyRuleReach['never'] =
    tools === 0 ? { why: 'no_tool' } : free === 0 ? { why: 'overruled', by: [...by].slice(0, MAX_NAMED) } : null
  return { rule, tools, never, conflicts: told.sort((one, other) => Number(other.isCertain) - Number(one.isCertain)).slice(0, MAX_NAMED) }
}

/** Compares rules in pairs, each pair once: most tools have the same rules. */
function comparePairs(rules: readonly PolicyRule[]) {
  const relations = openRelations()
  const places = new Map(rules.map((rule, place) => [rule, place]))
  const overruled = new Map<number, boolean>()
  const conflicts = new Map<number, RuleConflict | undefined>()
  const remember = <T>(known: Map<number, T>, [one, other]: readonly [PolicyRule, PolicyRule], find: () => T): T => {
    const key = (places.get(one) ?? 0) * rules.length + (places.get(other) ?? 0)
    if (!known.has(key)) known.set(key, find())
    return known.get(key) as T
  }
  return {
    isOverruled: (rule: PolicyRule, by: PolicyRule): boolean =>
      remember(overruled, [rule, by], () => overrules(by, rule, (places.get(by) ?? 0) < (places.get(rule) ?? 0), relations.covers)),
    conflictOf: (earlier: PolicyRule, later: PolicyRule): RuleConflict | undefined =>
      remember(conflicts, [earlier, later], () => findConflict(earlier, later, relations)),
  }
}
