import type { PolicyDocument } from '@countersign/core'
import type { z } from 'zod'

/**
 * Rules to start from for the GitHub tools of a group: what reads runs, what changes asks, and what cannot be taken back is high risk.
 * @param group The name of the group in the configuration.
 * @example
 * policy: { rules: [...githubStarter('github')] }
 */
export const githubStarter = (group: string): NonNullable<z.input<typeof PolicyDocument>['rules']> => [
  // Of the rules that ask, the first one says the risk.
  ...['mergePullRequest', 'deleteBranch'].map((tool) => ({
    ...{ name: `${group}: ${tool} is high risk`, match: { tool: `${group}.${tool}` } },
    ...{ verdict: 'ask' as const, risk: 'high' as const },
  })),
  { name: `${group}: changes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask', risk: 'medium' },
  { name: `${group}: reads run`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
]
