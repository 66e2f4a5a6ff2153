import {
  type Action,
  type Claim,
  type ClientResultBody,
  CountersignError,
  isCountersignError,
  type Principal,
  type ShownAction,
} from '@countersign/core'
import type { Engine } from '../../packages/server/src/engine.ts'
import { accepterOf, type Caller } from '../../packages/server/src/gate/index.ts'
import { requireTakenWhileHeld } from '../../packages/server/src/http/hold.ts'
import { type ActionRow, actions } from '../../packages/server/src/store/index.ts'
import type { WorldDatabase } from './database.ts'
import type { Plan } from './model.ts'
import type { Random } from './random.ts'
import { TOOLS } from './slot.ts'

const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })

/** May decide. */
export const DECIDERS: readonly Principal[] = [
  // They see every session, so that whatever they try is refused for what it is.
  person('ana', 'approver', 'viewer'),
  person('bo', 'approver', 'viewer'),
  person('cy', 'admin'),
]
/** May not. */
export const OTHERS: readonly Principal[] = [person('vi', 'viewer'), { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }]

/** One thing that somebody asks of the server. */
export type Op =
  | { do: 'session'; agent: string }
  | { do: 'message'; sessionId: string; plan: Plan }
  | { do: 'decide'; actionId: string; verdict: 'approve' | 'decline'; stop: boolean | undefined }
  | { do: 'word'; sessionId: string; word: string }
  | { do: 'approve'; sessionId: string; verdict: 'approve' | 'reject' | 'approve_all'; actionId: string | undefined }
  | { do: 'cancel'; sessionId: string }
  | { do: 'retry'; actionId: string }
  | { do: 'resolve'; actionId: string; outcome: 'succeeded' | 'failed'; attempt: number }
  | { do: 'verify'; actionId: string }
  | { do: 'propose'; tool: string; what: string }
  | { do: 'request'; sessionId: string; plan: Plan }
  | { do: 'call'; requestId: string }
  | { do: 'claim'; actionId: string; again: boolean }
  | { do: 'result'; actionId: string; body: ClientResultBody }
  | { do: 'release'; actionId: string }
  | { do: 'void'; actionId: string }
  | { do: 'accept' }

/** The outcome of an operation, for its caller. */
export type Answer =
  | { kind: 'session'; sessionId: string }
  /** The decision counts: the action as it is now. */
  | { kind: 'decided'; action: Action }
  /** Somebody or something else was first: the action as it is now. */
  | { kind: 'lost'; action: Action }
  | { kind: 'request'; requestId: string }
  | { kind: 'claimed'; claim: Claim }
  | { kind: 'done' }
  /** It cannot be done, or its basis has changed and the action goes back for approval. */
  | { kind: 'refused'; code: string }

/** The routes that people ask this of. */
const ROUTES: Readonly<Record<Op['do'], string>> = {
  session: '/api/sessions',
  message: '/api/sessions/:id/messages',
  decide: '/api/actions/:id/decision',
  word: '/api/sessions/:id/messages',
  approve: '/api/sessions/:id/approve',
  cancel: '/api/sessions/:id/cancel',
  retry: '/api/actions/:id/retry',
  resolve: '/api/actions/:id/resolve',
  verify: '/api/actions/:id/verify',
  propose: '/api/actions',
  request: '/api/agent-requests',
  call: '/api/agent-requests/:id/execute',
  claim: '/api/actions/:id/claim',
  result: '/api/actions/:id/result',
  release: '/api/actions/:id/release',
  void: '/api/actions/:id/void',
  accept: '/api/hold/accept',
}

const REFUSALS = ['not_found', 'forbidden', 'illegal_transition', 'stale_preview', 'revision_mismatch']

/** Asks one thing of a running process, as its routes would. @throws what is no answer to a person: the process failed. */
export async function ask(engine: Engine, op: Op, caller: Caller): Promise<Answer> {
  try {
    requireTakenWhileHeld(engine.hold.why, 'POST', ROUTES[op.do])
    return await askPlainly(engine, op, caller)
  } catch (error) {
    if (!isCountersignError(error)) throw error
    if (error.code === 'already_decided') return { kind: 'lost', action: error.extra.action as Action }
    if (REFUSALS.includes(error.code)) return { kind: 'refused', code: error.code }
    throw error
  }
}

/**
 * Decides an action. A revised action needs its revision named: on that error the person reads the current card and repeats the decision
 * for it.
 */
async function decide(gate: Engine['gate'], { actionId, verdict, stop }: Extract<Op, { do: 'decide' }>, caller: Caller): Promise<Action> {
  try {
    return await gate.decide(actionId, { verdict, stop }, caller)
  } catch (error) {
    if (!isCountersignError(error) || error.code !== 'revision_mismatch') throw error
    const { revision, digest } = error.extra.action as Action
    return gate.decide(actionId, { verdict, stop, revision, digest }, caller)
  }
}

/** Returns the cards that a person sees who has had a session open for a while. */
const cardsIn = (store: Engine['store'], sessionId: string): Promise<ShownAction[]> =>
  store.read(function* () {
    const cards: ShownAction[] = []
    for (const { id } of yield* actions.openActions.all({ session_id: sessionId })) {
      const row = yield* actions.findAction.first({ id })
      if (row) cards.push({ actionId: id, revision: row.revision, digest: row.digest, forMs: 60_000 })
    }
    return cards
  })

async function askPlainly({ store, gate, agentLoop, hold }: Engine, op: Op, caller: Caller): Promise<Answer> {
  switch (op.do) {
    case 'session': {
      const { id: sessionId } = await agentLoop.createSession({ agent: op.agent }, caller)
      // So that several people write in it.
      for (const { id } of DECIDERS) await agentLoop.invite(sessionId, id, caller)
      return { kind: 'session', sessionId }
    }
    case 'message':
      await agentLoop.postMessage(op.sessionId, JSON.stringify(op.plan), caller)
      return { kind: 'done' }
    case 'word':
      await agentLoop.postMessage(op.sessionId, op.word, caller, await cardsIn(store, op.sessionId))
      return { kind: 'done' }
    case 'decide':
      return { kind: 'decided', action: await decide(gate, op, caller) }
    case 'approve':
      await agentLoop.approveInSession(op.sessionId, { verdict: op.verdict, actionId: op.actionId }, caller)
      return { kind: 'done' }
    case 'cancel':
      await agentLoop.cancelSession(op.sessionId, caller)
      return { kind: 'done' }
    case 'retry':
      await gate.retry(op.actionId, caller)
      return { kind: 'done' }
    case 'resolve':
      await gate.resolve(op.actionId, { outcome: op.outcome, note: 'I looked.', attempt: op.attempt }, caller)
      return { kind: 'done' }
    case 'verify':
      await gate.verify(op.actionId, caller)
      return { kind: 'done' }
    case 'request':
      return {
        kind: 'request',
        requestId: (await agentLoop.createRequest({ message: JSON.stringify(op.plan), sessionId: op.sessionId }, caller)).requestId,
      }
    case 'call':
      await agentLoop.callRequest(op.requestId, caller)
      return { kind: 'done' }
    case 'claim':
      return { kind: 'claimed', claim: await gate.claim(op.actionId, { retry: op.again }, caller) }
    case 'result':
      await gate.takeClientResult(op.actionId, op.body, caller)
      return { kind: 'done' }
    case 'release':
      await gate.release(op.actionId, caller)
      return { kind: 'done' }
    case 'void':
      await gate.void(op.actionId, { note: 'The original has done it.' }, caller)
      return { kind: 'done' }
    case 'accept':
      await hold.accept(accepterOf(caller))
      return { kind: 'done' }
    case 'propose':
      await gate.propose({ tool: op.tool, arguments: { what: op.what }, agent: 'outside' }, caller)
      return { kind: 'done' }
  }
}

/** True when the same request may be sent again to be answered: nobody said no to it. */
export const isWorthRepeating = (error: unknown): boolean => !(error instanceof CountersignError) || error.code === 'not_ready'

export function drawPlan(random: Random, newWhat: () => string): Plan {
  const call = () => {
    const tool = random.weigh({ charge: 3, mail: 2, book: 2, look: 2, sign: 1.5, wipe: 0.3 })
    // A read repeats a recent one.
    return { tool, what: tool === 'look' ? `r${random.int(2)}` : newWhat() }
  }
  const step = () => Array.from({ length: 1 + (random.chance(0.4) ? random.int(3) : 0) }, call)
  return {
    n: newWhat(),
    steps: Array.from({ length: random.weigh({ 0: 1, 1: 6, 2: 3, 3: 1 }) === '0' ? 0 : 1 + random.int(2) }, step).map(named),
  }
}

/** Models know a tool by its model name. */
const named = (step: Plan['steps'][number]): Plan['steps'][number] => step.map((call) => ({ ...call, tool: `shop_${call.tool}` }))

/**
 * Something that somebody does of their own accord in a session that they know of.
 * @param truthOf What they find when they look whether an action happened: nobody says what they do not know.
 */
export function drawOp(
  random: Random,
  database: WorldDatabase,
  sessionId: string,
  newWhat: () => string,
  truthOf: (actionId: string) => boolean | undefined,
): Op {
  const known = database.actionsOf(sessionId)
  // The newest first: those are the ones that anybody would press a button for.
  const pick = () => known.at(-1 - Math.min(random.int(4), known.length - 1))?.id
  const failed = known.filter(({ state }) => state === 'failed')
  const unknown = known.filter(({ state }) => state === 'outcome_unknown')
  const what = random.weigh({
    message: 3,
    decide: 4,
    word: 3,
    approve: 2,
    cancel: 1,
    propose: 1.5,
    request: 1,
    retry: failed.length > 0 ? 6 : 0.5,
    resolve: unknown.length > 0 ? 4 : 0.2,
    verify: unknown.length > 0 ? 4 : 0.2,
  })
  const meant = { retry: failed, resolve: unknown, verify: unknown }[what as string] ?? []
  const actionId = meant.length > 0 ? random.pick(meant).id : pick()
  switch (what) {
    case 'decide':
      if (actionId !== undefined)
        return { do: 'decide', actionId, verdict: drawVerdict(random), stop: random.chance(0.1) ? true : undefined }
      break
    case 'retry':
      if (actionId !== undefined && database.action(actionId)?.executor === 'client') return { do: 'claim', actionId, again: true }
      if (actionId !== undefined) return { do: 'retry', actionId }
      break
    case 'request':
      return { do: 'request', sessionId, plan: drawPlan(random, newWhat) }
    case 'verify':
      if (actionId !== undefined) return { do: 'verify', actionId }
      break
    case 'resolve': {
      const row = actionId === undefined ? undefined : database.action(actionId)
      // A person looks for the outcome only once there may be one.
      const op = row && hasBegun(row) ? resolutionOf(row, truthOf) : undefined
      if (op) return op
      break
    }
    case 'word': {
      const words = ['approve', 'YES', 'reject', ' no ', 'approve all', `approve ${actionId}`, `reject ${actionId}`]
      return { do: 'word', sessionId, word: random.pick(words) }
    }
    case 'approve': {
      const verdict = random.weigh({ approve: 3, reject: 1, approve_all: 1 })
      return { do: 'approve', sessionId, verdict, actionId: random.chance(0.5) ? actionId : undefined }
    }
    case 'cancel':
      return { do: 'cancel', sessionId }
    case 'propose':
      return { do: 'propose', tool: `shop.${random.pick(TOOLS).name}`, what: newWhat() }
    case 'message':
      break
  }
  return { do: 'message', sessionId, plan: drawPlan(random, newWhat) }
}

/** Returns what a person does about an action that failed or is of unknown outcome; undefined for nothing. */
export function drawRepair(
  random: Random,
  database: WorldDatabase,
  actionId: string,
  truthOf: (actionId: string) => boolean | undefined,
): Op | undefined {
  const row = database.action(actionId)
  if (row?.state === 'failed') return row.executor === 'client' ? { do: 'claim', actionId, again: true } : { do: 'retry', actionId }
  if (row?.state !== 'outcome_unknown') return undefined
  const op = resolutionOf(row, truthOf)
  return op && random.chance(0.5) ? op : { do: 'verify', actionId }
}

const hasBegun = ({ state }: ActionRow): boolean => !['proposed', 'approved', 'executing'].includes(state)

/** Returns the answer of a person who checked the newest attempt; undefined while they cannot know. */
function resolutionOf({ id, attempt }: ActionRow, truthOf: (actionId: string) => boolean | undefined): Op | undefined {
  const happened = truthOf(id)
  return happened === undefined ? undefined : { do: 'resolve', actionId: id, outcome: happened ? 'succeeded' : 'failed', attempt }
}

export const drawVerdict = (random: Random): 'approve' | 'decline' => (random.chance(0.75) ? 'approve' : 'decline')
