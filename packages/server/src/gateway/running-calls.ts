import { createHash } from 'node:crypto'
import { z } from 'zod'
import { newSalt } from '../store/index.ts'

const Id = z.union([z.string(), z.number()])
const Cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: Id, reason: z.string().optional() }),
})
const Asked = z.object({ method: z.string(), id: Id })

const WITHDRAWN = 'withdrawn'

export interface RunningCall {
  /** Identifies the request across processes. */
  readonly name: string
  /** Aborts when the client cancelled the request. */
  readonly cancelled: AbortSignal
  /** Returns true once the client cancelled it for another reason than a timeout: the result is not wanted any more. */
  isWithdrawn(): boolean
  /** Removes the request: it was answered, or the client is gone. */
  end(): void
}

/** SDKs also cancel requests that timed out, with a reason that says so. Such a client repeats its call and expects to find its action. */
const PATIENCE_ENDED = /time[sd]?[ -]?out|timeout|deadline/i

/** The id of a session is a secret of its client. */
const nameOf = (sessionId: string, id: string | number): string =>
  createHash('sha256')
    .update(`${sessionId} ${JSON.stringify(id)}`)
    .digest('hex')

/** Tracks the requests in flight in this process, so that a client's cancellation ends the wait. */
export interface RunningCalls {
  begin(sessionId: string | undefined, body: unknown): RunningCall
  /** Returns the request that a message cancels, here or in another process; undefined for any other message. */
  cancel(sessionId: string, body: unknown): CancelledRequest | undefined
}

export interface CancelledRequest {
  name: string
  /** False when only the client's timeout ended. */
  isWithdrawn: boolean
}

export function createRunningCalls(): RunningCalls {
  const running = new Map<string, AbortController>()
  return {
    begin(sessionId, body) {
      const controller = new AbortController()
      const asked = Asked.safeParse(body).data
      const name = sessionId === undefined || !asked ? newSalt() : nameOf(sessionId, asked.id)
      running.set(name, controller)
      return {
        name,
        cancelled: controller.signal,
        isWithdrawn: () => controller.signal.aborted && controller.signal.reason === WITHDRAWN,
        end() {
          if (running.get(name) === controller) running.delete(name)
        },
      }
    },
    cancel(sessionId, body) {
      const { data } = Cancelled.safeParse(body)
      if (!data) return undefined
      const { requestId, reason = '' } = data.params
      const name = nameOf(sessionId, requestId)
      const isWithdrawn = !PATIENCE_ENDED.test(reason)
      running.get(name)?.abort(isWithdrawn ? WITHDRAWN : undefined)
      return { name, isWithdrawn }
    },
  }
}
