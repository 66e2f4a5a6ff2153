import { meansTool, type PolicyDocument, type PolicyRule, type Tool, type ToolDetails } from '@countersign/core'

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
