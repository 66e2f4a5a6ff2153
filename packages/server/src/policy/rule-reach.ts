import { overrules, type PolicyDocument, type PolicyRule, type PolicyRuleReach } from '@countersign/core'
import { openRelations } from './condition-relation.ts'
import { findConflict, tellConflict, whatIsLess } from './conflict.ts'
import { isAbout, type Subject } from './rules-about.ts'
import { Turns } from './turns.ts'

/** The most rules that are named as the reason why another one never decides, and as those that it conflicts with. */
const MAX_NAMED = 3
/** Looking whether a rule is about a tool, or for a conflict of two rules, costs so many steps besides the comparison of their conditions. */
const STEPS_PER_LOOK = 20

interface Reach {
  rule: PolicyRule
  tools: number
  /** Tools about whose calls it may decide. */
  free: number
  by: Set<string>
  /** By the earlier rule: for how many tools. */
  conflicts: Map<PolicyRule, number>
}

/** Tools that the same rules are about, which the same is to be said of. */
interface ToolGroup {
  tools: number
  /** In the order of the document. */
  about: readonly PolicyRule[]
}

/**
 * Returns for each rule of a document how many of the tools it is about, why it never decides about any call of them, where that is so, and
 * which earlier rules ask for less than it where both match a call. Other requests are served meanwhile.
 */
export async function findRuleReach({ rules }: PolicyDocument, tools: readonly Subject[]): Promise<PolicyRuleReach[]> {
  const turns = new Turns()
  const reach = new Map(rules.map((rule): [PolicyRule, Reach] => [rule, { rule, tools: 0, free: 0, by: new Set(), conflicts: new Map() }]))
  const pairs = comparePairs(rules, turns)
  for (const group of await groupTools(rules, tools, turns)) {
    const stricterThan = await findStricter(group, pairs, turns)
    for (const [index, rule] of group.about.entries()) {
      const mine = reach.get(rule)
      if (!mine) continue
      mine.tools += group.tools
      const stricter = stricterThan.get(rule)
      if (stricter) mine.by.add(stricter.name)
      else mine.free += group.tools
      for (let at = 0; at < index; at++) {
        turns.add(1)
        if (turns.isDue) await turns.next()
        const earlier = group.about[at]
        // Where another rule decides about all calls of one of them, these two do not meet.
        if (!earlier || stricterThan.has(earlier) || (stricter && stricter !== earlier)) continue
        if (pairs.conflictOf(earlier, rule)) mine.conflicts.set(earlier, (mine.conflicts.get(earlier) ?? 0) + group.tools)
      }
    }
  }
  return [...reach.values()].map((found) => viewReach(found, pairs))
}

async function groupTools(rules: readonly PolicyRule[], tools: readonly Subject[], turns: Turns): Promise<ToolGroup[]> {
  const groups = new Map<string, ToolGroup>()
  for (const tool of tools) {
    const places: number[] = []
    for (const [place, rule] of rules.entries()) {
      turns.add(STEPS_PER_LOOK)
      if (turns.isDue) await turns.next()
      if (isAbout(rule, tool)) places.push(place)
    }
    const key = places.join()
    const group = groups.get(key) ?? { tools: 0, about: places.flatMap((place) => rules[place] ?? []) }
    group.tools++
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Finds the first rule that decides about all calls of another one, for each that has such a rule. */
async function findStricter({ about }: ToolGroup, pairs: Pairs, turns: Turns): Promise<Map<PolicyRule, PolicyRule>> {
  const found = new Map<PolicyRule, PolicyRule>()
  for (const rule of about) {
    for (const other of about) {
      turns.add(1)
      if (turns.isDue) await turns.next()
      if (other === rule || !pairs.isOverruled(rule, other)) continue
      found.set(rule, other)
      break
    }
  }
  return found
}

function viewReach({ rule, tools, free, by, conflicts }: Reach, pairs: Pairs): PolicyRuleReach {
  const never: PolicyRuleReach['never'] =
    tools === 0 ? { why: 'no_tool' } : free === 0 ? { why: 'overruled', by: [...by].slice(0, MAX_NAMED) } : null
  const found = [...conflicts].map(([earlier, shared]) => ({ earlier, shared, isCertain: pairs.conflictOf(earlier, rule) === 'certain' }))
  const named = found.sort((one, other) => Number(other.isCertain) - Number(one.isCertain)).slice(0, MAX_NAMED)
  return {
    ...{ rule: rule.name, tools, never },
    conflicts: named.map(({ earlier, shared, isCertain }) => {
      const part = shared === tools ? undefined : { shared, tools }
      const text = tellConflict(earlier.name, { isCertain, less: [...whatIsLess(earlier, rule)] }, part)
      return { with: earlier.name, isCertain, text }
    }),
  }
}

interface Pairs {
  isOverruled(rule: PolicyRule, by: PolicyRule): boolean
  conflictOf(earlier: PolicyRule, later: PolicyRule): 'certain' | 'possible' | undefined
}

/** Compares rules in pairs, each pair once: most tools have the same rules. */
function comparePairs(rules: readonly PolicyRule[], turns: Turns): Pairs {
  const relations = openRelations((steps) => turns.add(steps))
  const places = new Map(rules.map((rule, place) => [rule, place]))
  const isEarlier = (one: PolicyRule, other: PolicyRule) => (places.get(one) ?? 0) < (places.get(other) ?? 0)
  const remember = <Answer>(answers: readonly Answer[], find: (one: PolicyRule, other: PolicyRule) => Answer) => {
    // A thousand rules are a million pairs: a byte each, with the number of the answer, or 0.
    const known = new Uint8Array(rules.length ** 2)
    return (one: PolicyRule, other: PolicyRule): Answer => {
      const key = (places.get(one) ?? 0) * rules.length + (places.get(other) ?? 0)
      if (known[key] === 0) {
        turns.add(STEPS_PER_LOOK)
        known[key] = answers.indexOf(find(one, other)) + 1
      }
      return answers[(known[key] ?? 0) - 1] as Answer
    }
  }
  return {
    isOverruled: remember([false, true], (rule, by) => overrules(by, rule, isEarlier(by, rule), relations.covers)),
    conflictOf: remember([undefined, 'possible', 'certain'], (earlier, later) => {
      const found = findConflict(earlier, later, relations)
      return found && (found.isCertain ? 'certain' : 'possible')
    }),
  }
}
