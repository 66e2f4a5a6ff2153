import { deserialize, serialize } from 'node:v8'
import { Agent, tool as agentsTool, Runner, RunState } from '@openai/agents-core'
import { assistantMessage, ScriptedModel } from '@openai/agents-core/testing'
import { z } from 'zod'
import { answerInterruptions, gate as gateAgents } from '../../packages/client/src/gate/openai-agents.ts'
import type { Client, GateOptions } from '../../packages/client/src/index.ts'
import { agentsModel, type ScriptedCall, SET, toldToAgents } from './gate-frameworks.ts'
import type { openLedger } from './gate-server.ts'

type Work = Pick<ReturnType<typeof openLedger>, 'setStatus'>

/** A run that its framework stopped, as text to store, or what its model was told once it ended, by tool call id. */
export type ParkedRun = { saved: string; told?: undefined } | { saved?: undefined; told: Record<string, string> }

export interface ParkingRun {
  client: Client
  work: Work
  options?: GateOptions
}

/** A framework's own way to stop a run at a call and to go on with it later, with gated tools. */
export interface Parking {
  /** Runs an agent whose model makes these calls in one step, until the framework stops it. */
  start(run: ParkingRun, calls: readonly ScriptedCall[]): Promise<ParkedRun>
  /** Goes on with a stored run, in this or another process. @param wait Whether to wait until every call is decided. */
  resume(run: ParkingRun, saved: string, wait: boolean): Promise<ParkedRun>
}

const parkedAgent = ({ client, work, options }: ParkingRun, model: ScriptedModel) => {
  const setStatus = gateAgents(
    client,
    agentsTool,
    options,
  )({
    name: 'setStatus',
    description: SET.description,
    parameters: SET.schema,
    needsApproval: true,
    execute: work.setStatus,
  })
  return new Agent({ name: 'desk', model, tools: [setStatus] })
}

const openaiAgents: Parking = {
  async start(run, calls) {
    const { state } = await new Runner({ tracingDisabled: true }).run(parkedAgent(run, agentsModel(...calls)), 'go')
    return { saved: state.toString() }
  },
  async resume(run, saved, wait) {
    const model = new ScriptedModel([[assistantMessage('I see.')]])
    const agent = parkedAgent(run, model)
    const state = await RunState.fromString(agent, saved)
    await answerInterruptions(state, { wait })
    const result = await new Runner({ tracingDisabled: true }).run(agent, state)
    return result.interruptions.length > 0 ? { saved: result.state.toString() } : { told: toldToAgents(model.calls[0]?.request) }
  },
}

export const PARKINGS: Readonly<Record<'openai-agents', Parking>> = { 'openai-agents': openaiAgents }
