import type { StarterRules } from '@countersign/toolkit'

/**
 * Returns the starting policy rules for the tools of an OpenAPI document: reads run, writes need approval. A tool that destroys or spends,
 * by its method or name, is high risk without a rule.
 * @param group The group's name in the configuration.
 */
export const openApiStarter = (group: string): StarterRules => [
  { name: `${group}: reads run`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: writes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
