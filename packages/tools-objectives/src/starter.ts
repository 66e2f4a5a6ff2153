import type { StarterRules } from '@countersign/toolkit'

/**
 * Returns the starting policy rules for the tools of objectives: reads run, progress needs approval, changes of the objectives need
 * approval at medium risk, removals at high risk.
 * @param group The name of the group in the configuration.
 * @example
 * policy: { rules: objectivesStarter('goals') }
 */
export const objectivesStarter = (group: string): StarterRules => [
  { name: `${group}: looking runs`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: recording progress asks`, match: { tool: `${group}.recordProgress` }, verdict: 'ask' },
  {
    name: `${group}: taking out a key result asks, with high risk`,
    match: { tool: `${group}.removeKeyResult` },
    verdict: 'ask',
    risk: 'high',
  },
  { name: `${group}: changes ask, with medium risk`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask', risk: 'medium' },
]
