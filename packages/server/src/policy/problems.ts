import { matchesGlob, type PolicyDocument } from '@countersign/core'
import type { SetupProblem } from '@countersign/toolkit'
import { fitsNoTool, type ToolRegistry } from '@countersign/toolkit/internal'
import { readCondition } from './condition.ts'

/** The names that the rules of a policy may use. */
export interface PolicyWorld {
  tools: Pick<ToolRegistry, 'mayFit' | 'all'>
  agents: readonly string[]
}

/** One problem of a policy. `at`: the place in a condition, as an index into its text. */
export interface PolicyProblem extends SetupProblem {
  at?: number
}

/**
 * Finds the problems of a policy in this installation: rules that name an unknown tool or agent (a misspelt name would silently disable the
 * rule), and conditions that cannot be evaluated. Paths are inside the document.
 */
export function findPolicyProblems({ rules }: PolicyDocument, { tools, agents }: PolicyWorld): PolicyProblem[] {
  return rules.flatMap(({ match: { tool, agent, when } }, index) => {
    const problems: PolicyProblem[] = []
    const report = (key: string, message: string, at?: number) =>
      problems.push({ path: ['rules', index, 'match', key], message, ...(at !== undefined && { at }) })
    if (tool !== undefined && !tools.mayFit(tool)) report('tool', fitsNoTool(tool, tools.all()))
    if (agent !== undefined && !agents.some((name) => matchesGlob(agent, name))) {
      report('agent', `"${agent}" fits no configured agent; for one that runs elsewhere, compare agent.name in a condition`)
    }
    if (when !== undefined) {
      const read = readCondition(when)
      if ('problem' in read) report('when', read.problem, read.at)
    }
    return problems
  })
}
