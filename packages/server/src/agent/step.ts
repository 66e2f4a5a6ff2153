import { isCountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { newId, type RunRow, type SessionRow, type SessionState } from '../store/index.ts'
import type { Agent, AgentDeps, AgentState } from './agent.ts'
import { openCallIds } from './call-ids.ts'
import { findTool, prepareCalls } from './calls.ts'
import { offeredTools } from './catalogue/index.ts'
import { openDeltas } from './deltas.ts'
import type { Histories } from './history.ts'
import { keepLookUps } from './keep-look-ups.ts'
import { listenToModel } from './listen.ts'
import { failRun, finishStep } from './outcome.ts'
import { stepMessageId } from './step-message.ts'
import { whyExhausted } from './usage.ts'

const ONE_AT_A_TIME = `When you need to change something, propose ONE action and wait for its result before you propose the next.`

/** The step that a session requires. */
interface NextStep {
  found: SessionState
  run: RunRow
  /** True when the session was not read again since this process wrote to it. */
  isAsWritten?: boolean
}

/**
 * Makes one model call and stores all that came of it in one transaction. True when the loop should look at the session again at once;
 * undefined when the session is not as it was written, or its run may not take this step: then it has to be read.
 */
export async function takeStep(
  deps: AgentDeps,
  state: AgentState,
  { found, run, isAsWritten = false }: NextStep,
): Promise<boolean | undefined> {
  const { session } = found
  const messageId = stepMessageId(run)
  const next = findAgent(deps, session, run)
  if ('code' in next) return isAsWritten ? undefined : failRun(deps, { session, run, messageId, text: '', ...next })
  const { agent } = next
  const written = isAsWritten ? found : undefined

  checkpoint('step.before_claim')
  // Read meanwhile: a history of this step stays the same until the step is stored.
  const reading = state.histories.read(deps.store, run, agent, written)
  reading.catch(() => undefined)
  // Before the claim: its answer may be lost.
  state.takenSteps.add(session.id)
  if (!(await deps.claimStep(run, written))) {
    state.takenSteps.delete(session.id)
    return isAsWritten ? undefined : false
  }
  checkpoint('step.claimed')
  const stored = await makeStep(deps, state, { found, run, agent, messageId, reading })
  if (stored === 'given_up') return false
  state.takenSteps.delete(session.id)
  return stored
}

interface TakenStep {
  found: SessionState
  run: RunRow
  agent: Agent
  messageId: string
  reading: ReturnType<Histories['read']>
}

/** @returns Whether the loop should look at the session again at once; `given_up` when nothing was stored. */
async function makeStep(
  deps: AgentDeps,
  state: AgentState,
  { found, run, agent, messageId, reading }: TakenStep,
): Promise<boolean | 'given_up'> {
  const { session } = found
  const call = new AbortController()
  state.modelCalls.add(call)
  const stopListening = deps.onRunEnded(run.id, () => call.abort())
  const deltas = openDeltas(deps, {
    run,
    messageId,
    apiName: (name) => findTool(agent, name)?.name ?? name,
    onEnded: () => call.abort(),
  })
  try {
    const history = await reading
    if (!history) return 'given_up'
    checkpoint('step.before_model')
    const heard = await listenToModel(
      agent.model,
      {
        instructions: instructionsOf(agent),
        messages: history.messages,
        tools: offeredTools(agent),
        signal: call.signal,
        conversation: session.id,
        agent: agent.name,
        ...(history.user && { user: history.user }),
      },
      deltas,
      openCallIds(history.callIds, () => newId('call', deps.clock.nowMs())),
    )
    // An aborted call leaves the run as its rows have it: cancelled by a person, or open for the next process.
    if (call.signal.aborted) {
      await keepLookUps(deps, { run, messageId }, heard)
      return 'given_up'
    }
    checkpoint('step.after_model')
    if (heard.failure) return await failRun(deps, { session, run, messageId, text: heard.text, heard, ...heard.failure })
    const step = { session, run, messageId, agent, heard }
    let calls = await prepareCalls(deps, agent, found, heard.calls)
    const unsaid = deltas.close()
    for (;;) {
      const stored = await finishStep(deps, { ...step, calls, unsaid })
      if (stored !== 'policy_changed') return stored
      calls = await prepareCalls(deps, agent, found, heard.calls)
    }
  } catch (error) {
    // The database is away or full. That does not end the run: the step is repeated when the database is back.
    if (isCountersignError(error) && (error.code === 'not_ready' || error.code === 'storage_full')) throw error
    // Left open, the run would wait for the next start of the server; ended, the person can ask again.
    deps.log.error({ sessionId: session.id, runId: run.id, error }, 'step.failed')
    return await failRun(deps, {
      session,
      run,
      messageId,
      text: '',
      code: 'internal',
      error: 'Something went wrong here; this step was not carried out.',
    })
  } finally {
    deltas.close()
    stopListening()
    state.modelCalls.delete(call)
  }
}

/** Returns the agent of a run, or why the run ends before its next step. */
function findAgent({ agents }: AgentDeps, session: SessionRow, run: RunRow): { agent: Agent } | { code: string; error: string } {
  const agent = agents.get(session.agent)
  if (!agent) return { code: 'agent_missing', error: `The agent ${session.agent} is no longer configured.` }
  if (run.steps >= agent.maxSteps) {
    return { code: 'max_steps', error: `Stopped after ${agent.maxSteps} steps, the most that this agent may take for one message.` }
  }
  const exhausted = agent.budget && whyExhausted(run, agent.budget)
  return exhausted === undefined ? { agent } : { code: 'budget_exhausted', error: exhausted }
}

const instructionsOf = (agent: Agent): string =>
  agent.actionsPerStep === 'one' ? [agent.instructions, ONE_AT_A_TIME].filter(Boolean).join('\n\n') : agent.instructions
