import { createHash } from 'node:crypto'
import { type Action, canonicalJson, type ErrorCode, isCountersignError, isSettled, type JsonObject } from '@countersign/core'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { type Caller, type Gate, viewAction } from '../gate/index.ts'
import { actions, findAnswer, gatewayCalls, type IdempotencyKey, newSalt, type Store } from '../store/index.ts'

/** A call as a client makes it. */
export interface GatewayCall {
  /** Name of the tool, ours. */
  tool: string
  arguments: JsonObject
  agent: string | undefined
  /** Given by the client: the same key is the same call until 30 days after its action was settled. */
  key: string | undefined
}

export interface FoundAction {
  action: Action
  /** True when an earlier call made it. */
  isRepeated: boolean
}

/**
 * Which calls are the same. A client whose patience ended makes its call again, and nothing on the wire tells that from a new call with
 * the same arguments: so a call stays open until its result was given to somebody, and until then the same call (principal, agent, tool,
 * arguments) is the same action. What a client marks with a key of its own needs no such guess.
 */
export interface OpenCalls {
  /** The action of a call: the one that is open, or a new one. */
  actionOf(call: GatewayCall, caller: Caller): Promise<FoundAction>
  /** Ends the call of a settled action once its result was delivered: the next one like it is another action. */
  tell(action: Action, delivered: Promise<boolean>): void
}

/** How long a result that nobody fetched is given to the same call. */
const KEPT_MS = 30 * 24 * 60 * 60_000

/** Refusals of the call itself. After any other error the action may be there. */
const MAKES_NO_ACTION: ReadonlySet<string> = new Set([
  'impossible',
  'too_many_waiting',
  'forbidden',
  'invalid_arguments',
  'not_found',
] satisfies ErrorCode[])

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

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
  /** What is being delivered at the moment, by its action: whoever gets it may call again before the row of its call is gone. */
  const telling = new Map<string, Promise<void>>()

  const readAction = (id: string): Promise<Action | undefined> =>
    store.read(function* () {
      const row = yield* actions.findAction.first({ id })
      return row && (yield* viewAction(row))
    })

  const propose = ({ tool, arguments: args, agent }: GatewayCall, caller: Caller, once: IdempotencyKey): Promise<Action> =>
    gate.propose({ tool, arguments: args, agent }, { ...caller, once })

  async function actionOfKey(call: GatewayCall, key: string, caller: Caller): Promise<FoundAction> {
    const { tool, arguments: args, agent } = call
    const requestHash = sha256(canonicalJson({ tool, arguments: args, agent: agent ?? null }))
    const once: IdempotencyKey = { scope: `${caller.principal.id} mcp`, key, requestHash, keptFor: 'action' }
    const earlier = await store.read(() => findAnswer<Action>(once))
    const { id } = earlier ?? (await propose(call, caller, once))
    const action = await readAction(id)
    if (!action) throw new Error(`assertion failed: action ${id} was proposed and is not there`)
    return { action, isRepeated: earlier !== undefined }
  }

  async function actionOf(call: GatewayCall, caller: Caller): Promise<FoundAction> {
    if (call.key !== undefined) return actionOfKey(call, call.key, caller)
    const { tool, arguments: args, agent } = call
    const hash = sha256(canonicalJson({ principal: caller.principal.id, agent: agent ?? null, tool, arguments: args }))
    for (;;) {
      const onceKey = newSalt()
      const open = await store.transact(() => gatewayCalls.openCall(hash, onceKey, clock.nowMs()))
      // Its result was delivered between the two.
      if (!open) continue
      const { once_key } = open
      if (open.action_id === null) {
        // Under a key, too: several at once, and one that died before it named its action, propose one action.
        const once: IdempotencyKey = { scope: 'mcp call', key: once_key, requestHash: hash }
        const action = await propose(call, caller, once).catch(async (error: unknown) => {
          if (isCountersignError(error) && MAKES_NO_ACTION.has(error.code)) await forgetRefused(hash, once)
          throw error
        })
        await store.transact(() => gatewayCalls.nameAction.run({ call: hash, once_key, action_id: action.id }))
        return { action, isRepeated: once_key !== onceKey }
      }
      const underWay = telling.get(open.action_id)
      if (underWay) {
        await underWay
        // A delivery that failed left the call open.
        const action = await readAction(open.action_id)
        const still = await store.read(() => gatewayCalls.findCall.first({ call: hash }))
        if (!action || still?.once_key !== once_key) continue
        return { action, isRepeated: true }
      }
      const action = await readAction(open.action_id)
      if (action && !isOver(action, clock.nowMs())) return { action, isRepeated: true }
      await store.transact(() => gatewayCalls.endCall.run({ call: hash, once_key }))
    }
  }

  /** No action came of it, so there is nothing that the same call would find later, unless the same call at once had more luck. */
  const forgetRefused = (hash: string, once: IdempotencyKey): Promise<void> =>
    store.transact(function* () {
      if ((yield* findAnswer<Action>(once)) === undefined) yield* gatewayCalls.endCall.run({ call: hash, once_key: once.key })
    })

  async function endWhenDelivered({ id }: Action, delivered: Promise<boolean>): Promise<void> {
    try {
      if (await delivered) await store.transact(() => gatewayCalls.endCallOf.run({ action_id: id }))
    } catch (error) {
      // The result is given once more to the same call, and says so.
      log.warn({ error, actionId: id }, 'gateway.delivery_write_failed')
    }
  }

  return {
    actionOf,
    tell(action, delivered) {
      // A repeat must not run what may have run: the call stays open until a person has found out.
      if (!isSettled(action.state) || action.state === 'outcome_unknown') return
      const told = Promise.all([telling.get(action.id), endWhenDelivered(action, delivered)]).then(() => {
        if (telling.get(action.id) === told) telling.delete(action.id)
      })
      telling.set(action.id, told)
    },
  }
}

/** A read that nobody was asked about is simply made again, and so is what was never fetched and is long past, or has been taken out. */
function isOver({ state, effect, policy, updatedAt, redactedAt }: Action, nowMs: number): boolean {
  if (!isSettled(state)) return false
  const isPlainRead = effect === 'read' && policy.verdict === 'allow'
  return isPlainRead || redactedAt !== undefined || (state !== 'outcome_unknown' && nowMs - Date.parse(updatedAt) > KEPT_MS)
}
