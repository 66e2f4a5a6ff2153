import { Runner } from '@openai/agents-core'
import { MODELS } from '../testing/gate-frameworks.ts'
import { makeAgent as makeLanggraph } from './langgraph.after.ts'
import { makeAgent as makeOpenaiAgents } from './openai-agents.after.ts'
import { orders } from './orders.ts'
import { chatModel } from './supplied-langchain.ts'

export const SHIP = { order: 'ORD-1', status: 'shipped' }
export const CALL = { id: 'call_1', name: 'setStatus', args: SHIP } as const
export const THREAD = { configurable: { thread_id: 'thread-1' } }
export const GO = { messages: [{ role: 'user', content: 'go' }] }

export type Framework = 'openai-agents' | 'langgraph' | 'langchain' | 'mastra'

/** Loads a program once more, as a second process would. */
export const loadAgain = <Program>(file: `./${string}.ts`): Promise<Program> => import(`${file}?${crypto.randomUUID()}`)

/** Runs the program behind the gate of a framework, whose model makes one call. Resolves when the run has ended. */
export const runAfter: Readonly<Record<Framework, () => Promise<unknown>>> = {
  'openai-agents': () => new Runner({ tracingDisabled: true }).run(makeOpenaiAgents(MODELS['openai-agents'](CALL), orders), 'go'),
  langgraph: () => makeLanggraph(chatModel(CALL), orders).invoke(GO, THREAD),
  langchain: async () => {
    const { agent } = await loadAgain<typeof import('./langchain.after.ts')>('./langchain.after.ts')
    return agent.invoke(GO, THREAD)
  },
  // The program of Mastra runs when it is loaded.
  mastra: () => loadAgain('./mastra.after.ts'),
}
