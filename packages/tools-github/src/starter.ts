import type { StarterRules } from '@countersign/toolkit'

/**
 * What cannot be taken back, or sets off more than itself: a merge, a release that everybody sees, minutes and deployments of a run. With
 * the arguments for which that is so, where it depends on them.
 */
const HIGH: readonly { tool: string; what: string; when?: string }[] = [
  { tool: 'mergePullRequest', what: 'mergePullRequest' },
  { tool: 'deleteBranch', what: 'deleteBranch' },
  // An approval may be the last thing that a merge waits for.
  { tool: 'createReview', what: 'an approving review', when: 'args.event == "APPROVE"' },
  { tool: 'createRelease', what: 'a release that is not a draft', when: '!args.draft' },
  { tool: 'publishRelease', what: 'publishRelease' },
  { tool: 'rerunWorkflow', what: 'rerunWorkflow' },
  { tool: 'rerunFailedJobs', what: 'rerunFailedJobs' },
  { tool: 'cancelWorkflowRun', what: 'cancelWorkflowRun' },
]

/**
 * Rules to start from for the GitHub tools of a group: what reads runs, what changes asks, and what cannot be taken back or sets off more
 * than itself is high risk.
 * @param group The name of the group in the configuration.
 * @example
 * policy: { rules: [...githubStarter('github')] }
 */
export const githubStarter = (group: string): StarterRules => [
  // Of the rules that ask, the first one says the risk.
  ...HIGH.map(({ tool, what, when }) => ({
    ...{ name: `${group}: ${what} is high risk`, match: { tool: `${group}.${tool}`, ...(when !== undefined && { when }) } },
    ...{ verdict: 'ask' as const, risk: 'high' as const },
  })),
  { name: `${group}: changes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask', risk: 'medium' },
  { name: `${group}: reads run`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
]
