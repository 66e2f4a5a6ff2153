import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  meansTool,
  overrules,
  type PolicyDocument,
  type PolicyRule,
  type PolicyRuleUse,
  type Tool,
  type ToolDetails,
} from '@countersign/core'

type Subject = Pick<Tool, 'name' | 'group' | 'effect' | 'registered'>

const isAbout = (rule: PolicyRule, { name, group, effect, registered }: Subject): boolean =>
  meansTool(rule, { tool: name, group, effect, isRegistered: registered !== undefined })

/** Returns the rules that may decide about calls of a tool, in the order of the document. */
export const rulesAbout = ({ rules }: PolicyDocument, tool: Subject): NonNullable<ToolDetails['policy']>['rules'] =>
  rules
    .filter((rule) => isAbout(rule, tool))
    .map(({ name, verdict, match: { agent, when } }) => ({
      ...{ rule: name, verdict, always: agent === undefined && when === undefined },
      ...(agent !== undefined && { agent }),
      ...(when !== undefined && { when }),
    }))

/** The most rules that are named as the reason why another one never decides. */
const MAX_NAMED = 3
/** Other requests get their turn after so many tools. */
const TOOLS_PER_TURN = 100

/**
 * Returns for each rule of a document how many of the tools it is about, and why it never decides about any call of them, where that is so.
 * Only rules without a condition overrule others, so a rule of which this is said never decides.
 */
export async function findRuleReach(
  { rules }: PolicyDocument,
  tools: readonly Subject[],
): Promise<Pick<PolicyRuleUse, 'rule' | 'tools' | 'never'>[]> {
  const reach = rules.map(({ name }) => ({ name, tools: 0, free: 0, by: new Set<string>() }))
  for (const [place, tool] of tools.entries()) {
    if (place % TOOLS_PER_TURN === 0) await nextTurn()
    const about = [...rules.entries()].filter(([, rule]) => isAbout(rule, tool))
    for (const [index, rule] of about) {
      const mine = reach[index]
      if (!mine) continue
      mine.tools++
      const stricter = about.find(([at, other]) => at !== index && overrules(other, rule, at < index))
      if (stricter) mine.by.add(stricter[1].name)
      else mine.free++
    }
  }
  return reach.map(({ name: rule, tools, free, by }) => {
    if (tools === 0) return { rule, tools, never: { why: 'no_tool' } }
    return { rule, tools, never: free === 0 ? { why: 'overruled', by: [...by].slice(0, MAX_NAMED) } : null }
  })
}
