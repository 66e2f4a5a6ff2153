import type { StarterRules } from '@countersign/toolkit'

/**
 * The tools whose effects are hard to undo or reach beyond the change itself: a merge, a public release, minutes and deployments of a run.
 * `when` limits a rule to the arguments for which this is so.
 */
const HIGH: readonly { tool: string; what: string; when?: string }[] = [
  { tool: 'mergePullRequest', what: 'mergePullRequest' },
  { tool: 'deleteBranch', what: 'deleteBranch' },
  // An approval may be the last requirement for a merge.
  { tool: 'createReview', what: 'an approving review', when: 'args.event == "APPROVE"' },
  { tool: 'createRelease', what: 'a release that is not a draft', when: '!args.draft' },
  { tool: 'publishRelease', what: 'publishRelease' },
  { tool: 'rerunWorkflow', what: 'rerunWorkflow' },
  { tool: 'rerunFailedJobs', what: 'rerunFailedJobs' },
  { tool: 'cancelWorkflowRun', what: 'cancelWorkflowRun' },
]

/**
 * Returns the starting policy rules for the GitHub tools of a group: reads run, changes need approval. Changes that are hard to undo or
 * that reach beyond themselves are high risk.
 * @param group The name of the group in the configuration.
 * @example
 * policy: { rules: [...githubStarter('github')] }
 */
export const githubStarter = (group: string): StarterRules => [
  // The first matching rule that asks sets the risk.
  ...HIGH.map(({ tool, what, when }) => ({
    ...{ name: `${group}: ${what} is high risk`, match: { tool: `${group}.${tool}`, ...(when !== undefined && { when }) } },
    ...{ verdict: 'ask' as const, risk: 'high' as const },
  })),
  { name: `${group}: changes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask', risk: 'medium' },
  { name: `${group}: reads run`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
]
