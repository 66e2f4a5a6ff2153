import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { AgentLoop } from '../agent/index.ts'
import type { ConcurrencyLimiter, Timers } from '../dispatch/index.ts'
import type { Gate } from '../gate/index.ts'
import type { Guard } from '../instance/index.ts'
import type { DeliverySender } from '../notify/index.ts'
import type { Runtime } from '../runtime.ts'

const DRAIN_MS = 10_000

/** Between tries to go on after a hold. */
const FIRST_RELEASE_WAIT_MS = 100
const MAX_RELEASE_WAIT_MS = 5_000

export interface WorkOptions extends Pick<Runtime, 'clock' | 'dispatch' | 'timers' | 'sealer' | 'reconciler' | 'membership'> {
  deliveries: Timers | undefined
  guard: Guard | undefined
  gate: Gate
  agentLoop: AgentLoop
  /** Sends webhooks. Undefined: they are stored and not sent. */
  sender: DeliverySender | undefined
  /** The actions that are executed now. */
  limiter: ConcurrencyLimiter
  /** Aborted once nothing more is waited for. */
  stopped: AbortController
  log: Logger
}

/** The work of a process from its begin to its end: actions, model calls, timers and deliveries. */
export interface Work {
  /** Starts to execute work, including the work that was left while everything was held. */
  goOn(): Promise<void>
  /** Ends the model calls when everything becomes held while the process runs, and goes on when the hold ends. */
  followHold(): void
  /** Begins nothing more, stops model calls and lets running tools finish for at most `drainMs` (default 10_000). */
  drain(drainMs?: number): Promise<void>
  /** True when all work had ended before the drain's time was up. */
  readonly isDrained: boolean
}

export function createWork(options: WorkOptions): Work {
  const { clock, dispatch, timers, deliveries, sealer, reconciler, membership, guard, gate, agentLoop, sender, limiter, stopped, log } =
    options
  let hasBegun = false
  let beginning: Promise<void> | undefined
  let draining: Promise<void> | undefined
  let isDrained = false

  const rearm = () => {
    timers.rearm()
    deliveries?.rearm()
    sealer.wake()
  }

  async function goOn(): Promise<void> {
    if (hasBegun) {
      await membership.adopt()
      return rearm()
    }
    beginning ??= begin().finally(() => {
      beginning = undefined
    })
    await beginning
  }

  async function begin(): Promise<void> {
    const recover = async (gone?: readonly string[]) => {
      await gate.recover(gone)
      await sender?.recover(gone)
    }
    await membership.join({ recover, abortModelCalls: agentLoop.abortModelCalls, rearm })
    checkpoint('start.recovered')
    dispatch.start({ advance: agentLoop.advance, execute: gate.execute })
    // Timers fire nothing while everything is held.
    timers.start({ doWhatIsDue: async (signal) => (guard?.held ? undefined : gate.doWhatIsDue(signal)) })
    if (sender) deliveries?.start({ doWhatIsDue: async (signal) => (guard?.held ? undefined : sender.doWhatIsDue(signal)) })
    hasBegun = true
  }

  /** Goes on after a hold, repeated until the database takes it: nothing else would start the work that was left. */
  async function goOnAfterHold(): Promise<void> {
    for (let failures = 0; !guard?.held && !draining; failures++) {
      try {
        return await goOn()
      } catch (error) {
        const waitMs = Math.min(MAX_RELEASE_WAIT_MS, FIRST_RELEASE_WAIT_MS * 2 ** failures)
        log.error({ waitMs, error }, 'hold.release_failed')
        await new Promise<void>((resolve) => clock.after(waitMs, resolve))
      }
    }
  }

  async function end(drainMs: number): Promise<void> {
    reconciler.stop()
    dispatch.stop()
    timers.stop()
    deliveries?.stop()
    const forgetSends = sender?.stop()
    limiter.close()
    agentLoop.abortModelCalls()
    const late = Promise.withResolvers<boolean>()
    const stopWaiting = clock.after(drainMs, () => late.resolve(false))
    const ended = async () => {
      await dispatch.drained()
      // Work that ends later finds the database closed.
      if (!stopped.signal.aborted) await sealer.finish()
      return true
    }
    isDrained = await Promise.race([ended(), late.promise])
    stopWaiting()
    forgetSends?.()
    stopped.abort()
    checkpoint('stop.drained')
  }

  return {
    goOn,
    followHold() {
      guard?.onChange((held) => {
        if (held) agentLoop.abortModelCalls()
        else dispatch.background(goOnAfterHold())
      })
    },
    drain: (drainMs = DRAIN_MS) => (draining ??= end(drainMs)),
    get isDrained() {
      return isDrained
    },
  }
}
