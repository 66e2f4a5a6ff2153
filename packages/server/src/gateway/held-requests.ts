import { type Action, isCountersignError } from '@countersign/core'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Caller, Gate } from '../gate/index.ts'
import { actions, gatewayCalls, gatewayRequests, principals, type Store } from '../store/index.ts'

/** Pause after a failure, and for what another process left when it died. */
const EVERY_MS = 60_000

export interface HeldRequest {
  /** Identifies it across processes: by its session and id where the protocol has sessions. */
  name: string
  actionId: string
  caller: Caller
  /** True in the protocol versions in which closing the connection cancels the request (2026-07-28). */
  isClosedByHangUp: boolean
  /** Resolves to true once the answer was handed over completely; to false when the connection ended before. */
  delivered: Promise<boolean>
}

/** Tracks the requests that wait for people in rows that every process reads, so that their clients can cancel them. */
export interface HeldRequests extends AsyncDisposable {
  /**
   * Records that a request waits for an action, until the result is delivered. Only for the proposer of the action, while it is undecided.
   */
  hold(request: HeldRequest): Promise<void>
  /**
   * Withdraws the action of a request, whichever process holds it, unless another request waits for it or it has started.
   * @returns The action that was withdrawn.
   */
  takeBack(name: string, caller: Caller): Promise<Action | undefined>
}

interface HeldRequestDeps {
  store: Store
  gate: Gate
  clock: Clock
  log: Pick<Logger, 'warn'>
  /** How long after its connection was closed an action waits for the same call. */
  graceMs: number
  /** Returns true while this process drains. */
  isStopping(): boolean
  /** Why nothing can be done at the moment. */
  whyHeld(): string | undefined
}

export function openHeldRequests({ store, gate, clock, log, graceMs, isStopping, whyHeld }: HeldRequestDeps): HeldRequests {
  let inFlight = Promise.resolve()
  let isClosed = false
  let nextLookAt = Number.POSITIVE_INFINITY
  let stopWaiting = (): void => {}

  function lookIn(delayMs: number): void {
    const at = clock.nowMs() + delayMs
    if (isClosed || at >= nextLookAt) return
    stopWaiting()
    nextLookAt = at
    stopWaiting = clock.after(delayMs, () => {
      nextLookAt = Number.POSITIVE_INFINITY
      const look = withdrawClosed().catch((error: unknown) => log.warn({ error }, 'gateway.withdraw_failed'))
      inFlight = look.then((nextAt) => lookIn(Math.min(Math.max((nextAt ?? Number.POSITIVE_INFINITY) - clock.nowMs(), 0), EVERY_MS)))
    })
  }

  /** Withdraws actions whose requests were closed a while ago and not repeated. Returns when the next one is due. */
  async function withdrawClosed(): Promise<number | undefined> {
    if (whyHeld() !== undefined) return undefined
    const before = clock.nowMs() - graceMs
    const closed = await store.read(() => gatewayRequests.closedRequests(before))
    for (const { request, actionId } of closed) {
      if (isClosed) return undefined
      try {
        const caller = await callerOf(actionId)
        if (caller) await withdraw(request, actionId, caller, 'the client closed its request')
        await store.transact(() => gatewayRequests.dropRequest(request))
      } catch (error) {
        // The next run finds it again.
        log.warn({ error, actionId }, 'gateway.withdraw_failed')
      }
    }
    const nextClosedAt = await store.read(() => gatewayRequests.nextClosedAt(before))
    return nextClosedAt && nextClosedAt + graceMs
  }

  /** Returns the proposer, whether or not their key is still valid. */
  const callerOf = (actionId: string): Promise<Caller | undefined> =>
    store.read(function* () {
      const action = yield* actions.findAction.first({ id: actionId })
      const row = action && (yield* principals.findPrincipal.first({ id: action.requested_by }))
      return row && { principal: principals.readPrincipal(row), signIn: 'key, mcp' }
    })

  async function withdraw(name: string, actionId: string, caller: Caller, reason?: string): Promise<Action | undefined> {
    if (await store.read(() => gatewayRequests.isWaitedFor(actionId, name, clock.nowMs()))) return undefined
    try {
      const withdrawn = await gate.withdraw(actionId, { reason }, caller)
      await store.transact(() => gatewayCalls.endCallOf.run({ action_id: actionId }))
      return withdrawn
    } catch (error) {
      // It has started, was decided meanwhile or is archived: then it stays as it is.
      if (isCountersignError(error) && (error.code === 'illegal_transition' || error.code === 'gone')) return undefined
      throw error
    }
  }

  async function end({ name, actionId, isClosedByHangUp, delivered }: HeldRequest): Promise<void> {
    const isWhole = await delivered
    // This process ended the connection: its clients repeat their calls.
    if (!isWhole && isStopping()) return
    const isTakenBack = !isWhole && isClosedByHangUp
    try {
      await store.transact(() => {
        if (isWhole) return gatewayRequests.answerRequest(name, actionId)
        return gatewayRequests.loseRequest(name, isTakenBack ? 'closed' : 'lost', clock.nowMs())
      })
    } catch (error) {
      // For a minute it still counts as waiting.
      log.warn({ error, actionId }, 'gateway.request_write_failed')
    }
    if (isTakenBack) lookIn(graceMs)
  }

  // Handles the requests of the previous process, once its clients have had the time to reconnect.
  lookIn(graceMs)
  return {
    async hold(request) {
      const { name, actionId, caller } = request
      const isHeld = await store.transact(function* () {
        const action = yield* actions.findAction.first({ id: actionId })
        if (action?.state !== 'proposed' || action.requested_by !== caller.principal.id) return false
        yield* gatewayRequests.holdRequest(name, actionId, clock.nowMs())
        return true
      })
      if (isHeld) void end(request)
    },
    async takeBack(name, caller) {
      const actionId = await store.read(() => gatewayRequests.actionOfRequest(name))
      return actionId === undefined ? undefined : withdraw(name, actionId, caller)
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      stopWaiting()
      await inFlight
    },
  }
}
