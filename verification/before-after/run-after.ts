import { Runner } from '@openai/agents-core'
import { importMastra, MODELS } from '../testing/gate-frameworks.ts'
import { makeAgent as makeAiSdk } from './ai-sdk.after.ts'
import { makeAgent as makeLanggraph } from './langgraph.after.ts'
import { makeAgent as makeMastra } from './mastra.after.ts'
import { makeAgent as makeOpenaiAgents } from './openai-agents.after.ts'
import type { Orders } from './orders.ts'

export const SHIP = { order: 'ORD-1', status: 'shipped' }
export const CALL = { id: 'call_1', name: 'setStatus', args: SHIP } as const
export const THREAD = { configurable: { thread_id: 'thread-1' } }
export const GO = { messages: [{ role: 'user', content: 'go' }] }

export type Framework = 'ai-sdk' | 'openai-agents' | 'langgraph' | 'langchain' | 'mastra'

/** Runs the program behind the gate of each framework, whose model makes one call. Resolves when the run has ended. */
export const runAfter: Readonly<Record<Framework, (orders: Orders) => Promise<unknown>>> = {
  'ai-sdk': (orders) => makeAiSdk(MODELS['ai-sdk'](CALL), orders).generate({ prompt: 'go' }),
  'openai-agents': (orders) => new Runner({ tracingDisabled: true }).run(makeOpenaiAgents(MODELS['openai-agents'](CALL), orders), 'go'),
  langgraph: (orders) => makeLanggraph(MODELS.langgraph(CALL), orders).invoke(GO, THREAD),
  // Loaded when it is run: its package takes longer than the others' together.
  langchain: async (orders) => {
    const { makeAgent } = await import('./langchain.after.ts')
    return makeAgent(MODELS.langgraph(CALL), orders).invoke(GO, THREAD)
  },
  mastra: async (orders) => makeMastra(await importMastra(), MODELS.mastra(CALL), orders).generate('go', { maxSteps: 3 }),
}
