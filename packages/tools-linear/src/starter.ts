import type { StarterRules } from '@countersign/toolkit'

/**
 * Returns the starting policy rules for the tools of a Linear workspace: reads run, changes need approval, deletions are high risk.
 * @param group The name of the group in the configuration.
 * @example
 * policy: { rules: linearStarter('plan') }
 */
export const linearStarter = (group: string): StarterRules => [
  { name: `${group}: looking runs`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: deleting asks, with high risk`, match: { tool: `${group}.delete*` }, verdict: 'ask', risk: 'high' },
  {
    name: `${group}: projects and cycles ask, with medium risk`,
    match: { tool: `${group}.*Project`, effect: 'write' },
    verdict: 'ask',
    risk: 'medium',
  },
  { name: `${group}: changes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
