import { setTimeout } from 'node:timers/promises'
import type { Model, Principal } from '@countersign/core'
import { defineTool, type Engine, openConfig, openEngine } from 'countersign'
import { pino } from 'pino'
import { z } from 'zod'
import { type ActionRow, actions } from '../../../packages/server/src/store/index.ts'
import type { Place, System } from '../adapter.ts'
import { answerTo, callsFor, TOOL } from '../script.ts'

const person: Principal = { id: 'prn_peers', kind: 'person', name: 'Peers', roles: ['admin', 'approver'] }
const caller = { principal: person }

const model: Model = {
  id: 'scripted/peers',
  async *stream({ messages }) {
    const results = messages.filter(({ role }) => role === 'tool').length
    if (results > 0) {
      yield { type: 'text', delta: answerTo(results) }
      yield { type: 'finish', reason: 'stop' }
      return
    }
    const asked = messages.find((message) => message.role === 'user')
    for (const [i, call] of callsFor(asked?.content ?? '').entries()) {
      yield { type: 'tool_call', key: String(i), name: TOOL.name, argumentsText: JSON.stringify(call) }
    }
    yield { type: 'finish', reason: 'tool_calls' }
  },
}

/** The engine as `serve` opens it, with one agent and one tool that needs approval. The tool is not idempotent. */
async function openShop(place: Place): Promise<Engine> {
  const setStatus = defineTool({
    ...TOOL,
    input: z.object({ orderId: z.string(), status: z.string(), note: z.string() }),
    effect: 'write',
    describe: ({ orderId, status }) => `Set order ${orderId} to ${status}`,
    preview: async ({ status }) => [{ field: 'status', oldValue: 'pending', newValue: status }],
    execute: async (call) => ({ text: await place.effect(call) }),
  })
  const config = await openConfig({ tools: { shop: { prefix: false, tools: [setStatus] } } }, { environment: {}, folder: place.folder })
  const agent = {
    name: 'desk',
    model,
    instructions: '',
    tools: config.tools.all(),
    maxSteps: 20,
    actionsPerStep: 'many' as const,
    onDecline: 'continue' as const,
    suggestions: [],
  }
  const database =
    place.database === 'postgres' ? { kind: 'postgres' as const, url: place.url } : { kind: 'sqlite' as const, dataDir: place.folder }
  const engine = await openEngine({ database, agents: [agent], tools: config.tools, policy: config.policy, log: pino({ level: 'silent' }) })
  await engine.savePrincipal(person)
  return engine
}

interface Watched {
  /** Action ids by the order they are about. */
  actions: Map<string, string>
  asked: Promise<void>
  done: Promise<string>
  stop(): void
}

async function watchSession(engine: Engine, sessionId: string, calls: number): Promise<Watched> {
  const actionIds = new Map<string, string>()
  const asked = Promise.withResolvers<void>()
  const done = Promise.withResolvers<string>()
  let text = ''
  const stop = await engine.hub.onSession(sessionId, ({ event }) => {
    if (event.type === 'action_proposed') {
      actionIds.set(String((event.data.proposal.arguments as { orderId: string }).orderId), event.data.proposal.id)
      if (actionIds.size === calls) asked.resolve()
    }
    if (event.type === 'message' && event.data.message.role === 'assistant') text = event.data.message.content
    if (event.type === 'done') done.resolve(text)
    if (event.type === 'error') done.reject(new Error(event.data.error))
  })
  return { actions: actionIds, asked: asked.promise, done: done.promise, stop }
}

/** A session that an earlier process started: its actions are read from the database. */
async function watchAgain(engine: Engine, sessionId: string): Promise<Watched> {
  const watched = await watchSession(engine, sessionId, 0)
  const rows = await engine.store.read(function* () {
    const found: (ActionRow | undefined)[] = []
    for (const { id } of yield* actions.openActions.all({ session_id: sessionId })) found.push(yield* actions.findAction.first({ id }))
    return found.filter((row) => row !== undefined)
  })
  for (const { id, arguments: args } of rows) watched.actions.set((JSON.parse(args) as { orderId: string }).orderId, id)
  return watched
}

export async function open(place: Place): Promise<System> {
  const engine = await openShop(place)
  const sessions = new Map<string, Watched>()
  const watch = async (sessionId: string): Promise<Watched> => {
    const watched = sessions.get(sessionId) ?? (await watchAgain(engine, sessionId))
    sessions.set(sessionId, watched)
    return watched
  }
  return {
    async start(message) {
      const { id } = await engine.agentLoop.createSession({}, caller)
      const watched = await watchSession(engine, id, callsFor(message).length)
      sessions.set(id, watched)
      await engine.agentLoop.postMessage(id, message, caller)
      await watched.asked
      return id
    },
    async decide(sessionId, verdicts) {
      const ids = (await watch(sessionId)).actions
      await Promise.all(Object.entries(verdicts).map(([order, verdict]) => engine.gate.decide(ids.get(order) ?? '', { verdict }, caller)))
    },
    async finish(sessionId) {
      const { done, stop } = await watch(sessionId)
      const answer = await done
      stop()
      return answer
    },
    recover: (sessionId) => waitForOutcome(engine, sessionId),
    close: () => engine.close(),
  }
}

/** Waits until the adopted attempt has an outcome, without sending anything: the next start of the server continues by itself. */
async function waitForOutcome(engine: Engine, sessionId: string): Promise<string> {
  for (;;) {
    const found = await engine.store.read(() => actions.countUnknown.first({ session_id: sessionId }))
    if (found !== undefined && found.unknown > 0) return 'a person is told that the outcome is unknown'
    await setTimeout(100)
  }
}
