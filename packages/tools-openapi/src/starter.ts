import type { StarterRules } from '@countersign/toolkit'

/**
 * The rules of a policy to start from for the tools of an OpenAPI document: what reads runs, what writes asks. What destroys or
 * spends by its method or name is high risk without a rule.
 * @param group The group's name in the configuration.
 */
export const openApiStarter = (group: string): StarterRules => [
  { name: `${group}: reads run`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: writes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
