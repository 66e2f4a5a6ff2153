import type { Agent } from '../../packages/server/src/agent/agent.ts'

/** Returns two agents that differ in what they do after a declined action, and are named by it: `continue` and `stop`. */
export const agentsOnDecline = (model: Agent['model'], tools: Agent['tools'], maxSteps = 20): Agent[] =>
  (['continue', 'stop'] as const).map((onDecline) => ({
    name: onDecline,
    model,
    instructions: '',
    tools,
    maxSteps,
    actionsPerStep: 'many',
    onDecline,
    suggestions: [],
  }))
