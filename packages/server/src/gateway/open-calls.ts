import { createHash } from 'node:crypto'
import { type Action, canonicalJson, type ErrorCode, hasEnded, isCountersignError, isSettled, type JsonObject } from '@countersign/core'
import { mayBeModelName } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { type Caller, type Gate, viewAction } from '../gate/index.ts'
import { actions, answerToAny, findAnswer, gatewayCalls, type IdempotencyKey, newSalt, type Store } from '../store/index.ts'

/** A call as a client makes it. */
export interface GatewayCall {
  /** The server's name of the tool. */
  tool: string
  arguments: JsonObject
  agent: string | undefined
  /** Chosen by the client: the same key means the same call until 30 days after its action was settled. */
  key: string | undefined
}

/** A call of a tool that this caller is not offered, or not any more: only the name that the model knows is known. */
export interface CallOfNoTool extends Omit<GatewayCall, 'tool'> {
  modelName: string
}

export interface FoundAction {
  action: Action
  /** True when an earlier call created it. */
  isRepeated: boolean
}

/**
 * Decides which calls are the same. A client that timed out repeats its call, and on the wire that looks like a new call with the same
 * arguments: so a call stays open until its result was delivered, and until then the same call (principal, agent, tool, arguments) means
 * the same action. A call with a key of the client's own needs no such guess.
 */
export interface OpenCalls {
  /** Returns the action of a call: the open one, or a new one. */
  actionOf(call: GatewayCall, caller: Caller): Promise<FoundAction>
  /** Returns the action of a call that repeats an earlier one, whose tool was removed or renamed since; undefined for any other call. */
  repeatOf(call: CallOfNoTool, caller: Caller): Promise<Action | undefined>
  /** Closes the call of a settled action once its result was delivered: the next identical call is a new action. */
  tell(action: Action, delivered: Promise<boolean>): void
}

/** How long a result that was never fetched is given to the same call. */
const KEPT_MS = 30 * 24 * 60 * 60_000

/** Refusals of the call itself. After any other error the action may exist. */
const MAKES_NO_ACTION: ReadonlySet<string> = new Set([
  'impossible',
  'too_many_waiting',
  'forbidden',
  'invalid_arguments',
  'not_found',
] satisfies ErrorCode[])

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns the hash under which a call is open. */
const hashOf = ({ tool, arguments: args, agent }: GatewayCall, { principal }: Caller): string =>
  sha256(canonicalJson({ principal: principal.id, agent: agent ?? null, tool, arguments: args }))

const scopeOf = ({ principal }: Caller): string => `${principal.id} mcp`

const onceOf = ({ tool, arguments: args, agent }: GatewayCall, key: string, caller: Caller): IdempotencyKey => {
  const requestHash = sha256(canonicalJson({ tool, arguments: args, agent: agent ?? null }))
  return { scope: scopeOf(caller), key, requestHash, keptFor: 'action' }
}

export function createOpenCalls({
  store,
  gate,
  clock,
  log,
}: {
  store: Store
  gate: Gate
  clock: Clock
  log: Pick<Logger, 'warn'>
}): OpenCalls {
  /** Results being delivered at the moment, by action: a client that receives one may call again before the row of its call is gone. */
  const telling = new Map<string, Promise<void>>()

  const readAction = (id: string): Promise<Action | undefined> =>
    store.read(function* () {
      const row = yield* actions.findAction.first({ id })
      return row && (yield* viewAction(row, { nowMs: clock.nowMs() }))
    })

  const propose = ({ tool, arguments: args, agent }: GatewayCall, caller: Caller, once: IdempotencyKey): Promise<Action> =>
    gate.propose({ tool, arguments: args, agent }, { ...caller, once })

  async function actionOfKey(call: GatewayCall, key: string, caller: Caller): Promise<FoundAction> {
    const once = onceOf(call, key, caller)
    const earlier = await store.read(() => findAnswer<Action>(once))
    const { id } = earlier ?? (await propose(call, caller, once))
    const action = await readAction(id)
    if (!action) throw new Error(`assertion failed: action ${id} was proposed and is not there`)
    return { action, isRepeated: earlier !== undefined }
  }

  /**
   * Returns the action of an open call; 'delivered' when its result was delivered since the call was read, undefined when it is over. A failed
   * delivery leaves the call open.
   */
  async function undelivered(hash: string, onceKey: string, actionId: string): Promise<Action | 'delivered' | undefined> {
    await telling.get(actionId)
    const action = await readAction(actionId)
    if (action && hasEnded(action.state)) {
      const still = await store.read(() => gatewayCalls.findCall.first({ call: hash }))
      if (still?.once_key !== onceKey) return 'delivered'
    }
    return action && !isOver(action, clock.nowMs()) ? action : undefined
  }

  async function actionOf(call: GatewayCall, caller: Caller): Promise<FoundAction> {
    if (call.key !== undefined) return actionOfKey(call, call.key, caller)
    const hash = hashOf(call, caller)
    for (;;) {
      const onceKey = newSalt()
      const open = await store.transact(() => gatewayCalls.openCall(hash, onceKey, clock.nowMs()))
      // The result was delivered between the two steps.
      if (!open) continue
      const { once_key } = open
      if (open.action_id === null) {
        // The key also covers concurrent calls, and a process that crashed before it stored the action: they all propose one action.
        const once: IdempotencyKey = { scope: 'mcp call', key: once_key, requestHash: hash }
        const action = await propose(call, caller, once).catch(async (error: unknown) => {
          if (isCountersignError(error) && MAKES_NO_ACTION.has(error.code)) await forgetRefused(hash, once)
          throw error
        })
        await store.transact(() => gatewayCalls.nameAction.run({ call: hash, once_key, action_id: action.id }))
        return { action, isRepeated: once_key !== onceKey }
      }
      const action = await undelivered(hash, once_key, open.action_id)
      if (action === 'delivered') continue
      if (action) return { action, isRepeated: true }
      await store.transact(() => gatewayCalls.endCall.run({ call: hash, once_key }))
    }
  }

  async function repeatOf({ modelName, ...call }: CallOfNoTool, caller: Caller): Promise<Action | undefined> {
    const { key } = call
    if (key !== undefined) {
      const earlier = await store.read(() => answerToAny<Action>({ scope: scopeOf(caller), key }))
      const action = earlier && (await readAction(earlier.id))
      if (!action || !mayBeModelName(modelName, action.tool)) return undefined
      // Refuses the key when it was used for other arguments.
      return (await store.read(() => findAnswer<Action>(onceOf({ ...call, tool: action.tool }, key, caller)))) && action
    }
    for (const { tool } of await store.read(() => gatewayCalls.toolsOfOpenCalls.all({ requested_by: caller.principal.id }))) {
      if (!mayBeModelName(modelName, tool)) continue
      const hash = hashOf({ ...call, tool }, caller)
      const open = await store.read(() => gatewayCalls.findCall.first({ call: hash }))
      const action = open && open.action_id !== null ? await undelivered(hash, open.once_key, open.action_id) : undefined
      if (action && action !== 'delivered') return action
    }
    return undefined
  }

  /** Closes a call that created no action, because a repeat would find nothing later, unless a concurrent call succeeded. */
  const forgetRefused = (hash: string, once: IdempotencyKey): Promise<void> =>
    store.transact(function* () {
      if ((yield* findAnswer<Action>(once)) === undefined) yield* gatewayCalls.endCall.run({ call: hash, once_key: once.key })
    })

  async function endWhenDelivered({ id }: Action, delivered: Promise<boolean>): Promise<void> {
    try {
      if (await delivered) await store.transact(() => gatewayCalls.endCallOf.run({ action_id: id }))
    } catch (error) {
      // The same call gets the result once more, with a note that it is a repeat.
      log.warn({ error, actionId: id }, 'gateway.delivery_write_failed')
    }
  }

  return {
    actionOf,
    repeatOf,
    tell(action, delivered) {
      // A repeat must not run what may have run: the call stays open until a person has settled it.
      if (!hasEnded(action.state)) return
      const told = Promise.all([telling.get(action.id), endWhenDelivered(action, delivered)]).then(() => {
        if (telling.get(action.id) === told) telling.delete(action.id)
      })
      telling.set(action.id, told)
    },
  }
}

/**
 * Returns true for calls that may simply be made again: reads without approval, results that were not fetched in time, and archived
 * actions.
 */
function isOver({ state, effect, policy, updatedAt, redactedAt }: Action, nowMs: number): boolean {
  if (!isSettled(state)) return false
  const isPlainRead = effect === 'read' && policy.verdict === 'allow'
  return isPlainRead || redactedAt !== undefined || (state !== 'outcome_unknown' && nowMs - Date.parse(updatedAt) > KEPT_MS)
}
