import {
  meansTool,
  type PolicyDocument,
  type PolicyRule,
  strongest,
  type Tool,
  type ToolDetails,
  type UsualVerdict,
} from '@countersign/core'

export type Subject = Pick<Tool, 'name' | 'group' | 'effect' | 'registered'>

/** True when a rule may decide about calls of a tool. */
export const isAbout = (rule: PolicyRule, { name, group, effect, registered }: Subject): boolean =>
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

/**
 * Returns what the policy says about the calls of a tool. Rules with a condition, or for some agents, are only counted, because only a call
 * shows whether they match; those that are no stricter than a rule for every call change nothing.
 */
export function usualVerdict(document: PolicyDocument, tool: Subject): UsualVerdict {
  let sure: PolicyRule | undefined
  const others: PolicyRule[] = []
  for (const rule of document.rules) {
    if (!isAbout(rule, tool)) continue
    if (rule.match.agent !== undefined || rule.match.when !== undefined) others.push(rule)
    else if (!sure || strongest(rule) > strongest(sure)) sure = rule
  }
  const least = sure ? strongest(sure) : -1
  return {
    verdict: sure?.verdict ?? document.default,
    rule: sure?.name ?? null,
    mayDiffer: others.filter((rule) => strongest(rule) > least).length,
  }
}
