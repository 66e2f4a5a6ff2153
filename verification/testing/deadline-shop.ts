import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, type NewEvent, type PolicyDocument, type Principal, parseJson } from '@countersign/core'
import { type Engine, openEngine } from '../../packages/server/src/engine.ts'
import { viewAction, viewMessage } from '../../packages/server/src/gate/read/view.ts'
import { createLog } from '../../packages/server/src/log.ts'
import { scriptedModel } from '../../packages/server/src/models/index.ts'
import { actions, events, messages, type StoredEvent } from '../../packages/server/src/store/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { openTools } from '../../packages/toolkit/src/open-tools.ts'
import { agentsOnDecline } from './agents-on-decline.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
export const ben: Principal = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: ['approver'] }
export const caller = { principal: ana }

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const POLICY: PolicyDocument = {
  default: 'ask',
  limits: { waitingPerAgent: 2_000 },
  rules: [
    { name: 'ship soon', match: { tool: 'ship' }, verdict: 'ask', expires: 'PT1H' },
    { name: 'remind late', match: { tool: 'lend' }, verdict: 'ask', expires: 'PT1H', remind: 'PT2H' },
  ],
}

/** An engine on a clock of the test: `ship` expires after an hour, `bill` waits for ever, `lend` is reminded of after it has expired. */
export interface DeadlineShop {
  /** Opens an engine with data of its own. */
  open(): Promise<void>
  /** Starts an engine on the data that are there. */
  start(): Promise<void>
  close(): Promise<void>
  readonly engine: Engine
  readonly clock: ManualClock
  /** How often a tool was called. */
  readonly shipped: number
  /** Every event, also of processes that have ended. */
  readonly live: readonly StoredEvent[]
  /** Lets time pass as the engine lives it: what falls due on the way is done, however often it looks. */
  pass(ms: number): Promise<void>
  propose(tool: string, expiresIn?: string): Promise<Action>
  /** A session that waits for a decision about each tool that `message` names. */
  openSession(message: string, agent?: 'continue' | 'stop'): Promise<{ sessionId: string; waiting: string[] }>
  /** Returns the events of a session. */
  logOf(sessionId: string): Promise<NewEvent[]>
  /** Returns the events of actions without a session. */
  saidOutside(): NewEvent[]
  read(actionId: string): Promise<Action | undefined>
  /** Returns the result of each call that the model received, in order. */
  toldIn(sessionId: string): Promise<unknown[]>
}

/** The engine runs between `open` and `close`, for example before and after each test. */
export function createDeadlineShop(): DeadlineShop {
  let folder: string
  let clock: ManualClock
  let engine: Engine
  let shipped: number
  let live: StoredEvent[]

  async function start(): Promise<void> {
    const tools = openTools({
      shop: {
        prefix: false,
        tools: ['ship', 'bill', 'lend'].map((name) =>
          defineTool({ name, description: name, effect: 'write', input: { type: 'object' }, execute: () => ({ shipped: ++shipped }) }),
        ),
      },
    })
    // Calls the tools that the last message names, then says that it is done.
    const model = scriptedModel({
      id: 'scripted/shop',
      reply: ({ messages: history }) => {
        const last = history.at(-1)
        const named = last?.role === 'user' ? last.content.split(' ') : []
        return {
          text: named.length === 0 ? 'Done.' : '',
          calls: named.map((tool, order) => ({ tool, arguments: { order } })),
        }
      },
    })
    engine = await openEngine({
      database: { kind: 'sqlite', dataDir: folder },
      agents: agentsOnDecline(model, tools.all()),
      tools,
      policy: POLICY,
      log: createLog('silent'),
      clock,
    })
    await engine.hub.onInbox((event) => live.push(event))
    for (const principal of [ana, ben]) await engine.savePrincipal(principal)
    await engine.idle()
  }

  async function pass(ms: number): Promise<void> {
    const end = clock.nowMs() + ms
    while (clock.nowMs() < end) {
      clock.pass(Math.min(clock.waits[0] ?? ms, end - clock.nowMs()))
      await engine.idle()
    }
  }

  const propose = (tool: string, expiresIn?: string): Promise<Action> => engine.gate.propose({ tool, arguments: {}, expiresIn }, caller)

  async function openSession(message: string, agent: 'continue' | 'stop' = 'continue'): Promise<{ sessionId: string; waiting: string[] }> {
    const { id: sessionId } = await engine.agentLoop.createSession({ agent }, caller)
    await engine.agentLoop.postMessage(sessionId, message, caller)
    await engine.idle()
    const said = await logOf(sessionId)
    engine.announcements.note(
      ana,
      said.flatMap((event) => (event.type === 'action_proposed' ? [event.data.proposal] : [])),
    )
    return { sessionId, waiting: said.flatMap((event) => (event.type === 'action_proposed' ? [event.data.proposal.id] : [])) }
  }

  const logOf = (sessionId: string): Promise<NewEvent[]> =>
    engine.store.read(function* () {
      const rows = yield* events.sessionRowsAfter.all({ session_id: sessionId, after: 0, limit: 10_000 })
      return rows.flatMap(events.readEvents).map(({ event }) => event)
    })

  const saidOutside = (): NewEvent[] => live.flatMap(({ sessionId, event }) => (sessionId === null ? [event] : []))

  const read = (actionId: string): Promise<Action | undefined> =>
    engine.store.read(function* () {
      const row = yield* actions.findAction.first({ id: actionId })
      return row && (yield* viewAction(row, { nowMs: clock.nowMs() }))
    })

  async function toldIn(sessionId: string): Promise<unknown[]> {
    const rows = await engine.store.read(() =>
      messages.listMessages.all({ session_id: sessionId, before: Number.MAX_SAFE_INTEGER, limit: 100 }),
    )
    return rows.reverse().flatMap((row) => {
      const { role, content } = viewMessage(row)
      const parsed = parseJson(content)
      return role === 'tool' && parsed.ok ? [parsed.value] : []
    })
  }

  return {
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'countersign-expire-'))
      clock = manualClock()
      shipped = 0
      live = []
      await start()
    },
    start,
    async close() {
      await engine.close()
      await rm(folder, { recursive: true })
    },
    get engine() {
      return engine
    },
    get clock() {
      return clock
    },
    get shipped() {
      return shipped
    },
    get live() {
      return live
    },
    pass,
    propose,
    openSession,
    logOf,
    saidOutside,
    read,
    toldIn,
  }
}

export const TIMEOUT = { declined: true, reason: 'Timeout' }
export const statesIn = (said: readonly NewEvent[]) => said.flatMap(({ type, data }) => (type === 'action_update' ? [data.state] : []))
export const overdueIn = (said: readonly NewEvent[]) => said.flatMap(({ type, data }) => (type === 'approval_overdue' ? [data] : []))
export const endingsIn = (said: readonly NewEvent[]) =>
  said.flatMap((event) => (event.type === 'done' || event.type === 'error' ? [event] : []))
