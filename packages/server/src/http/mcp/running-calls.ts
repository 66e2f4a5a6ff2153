import { z } from 'zod'

const Id = z.union([z.string(), z.number()])
const Cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: Id, reason: z.string().optional() }),
})
const Asked = z.object({ method: z.string(), id: Id })

const WITHDRAWN = 'withdrawn'

export interface RunningCall {
  /** Aborts when the client took the request back. */
  readonly cancelled: AbortSignal
  /** True once the client took it back for another reason than that its own patience ended: nobody wants it any more. */
  isWithdrawn(): boolean
  /** It was answered, or nobody is there any more. */
  end(): void
}

/** The SDKs cancel what timed out, too, with a reason that says so. Such a client makes its call again and expects to find its action. */
const PATIENCE_ENDED = /time[sd]?[ -]?out|timeout|deadline/i

/**
 * Requests under way, so that a client which cancels one is not waited for any longer. In another process than the request's it has no
 * effect; the client hangs up there anyway.
 */
export interface RunningCalls {
  begin(sessionId: string | undefined, body: unknown): RunningCall
  /** True for the message that cancels a request. */
  cancel(sessionId: string, body: unknown): boolean
}

export function createRunningCalls(): RunningCalls {
  const running = new Map<string, AbortController>()
  const nameOf = (sessionId: string, id: string | number): string => `${sessionId} ${JSON.stringify(id)}`
  return {
    begin(sessionId, body) {
      const controller = new AbortController()
      const asked = Asked.safeParse(body).data
      const name = sessionId === undefined || !asked ? undefined : nameOf(sessionId, asked.id)
      if (name !== undefined) running.set(name, controller)
      return {
        cancelled: controller.signal,
        isWithdrawn: () => controller.signal.aborted && controller.signal.reason === WITHDRAWN,
        end() {
          if (name !== undefined && running.get(name) === controller) running.delete(name)
        },
      }
    },
    cancel(sessionId, body) {
      const { data } = Cancelled.safeParse(body)
      if (!data) return false
      const { requestId, reason = '' } = data.params
      running.get(nameOf(sessionId, requestId))?.abort(PATIENCE_ENDED.test(reason) ? undefined : WITHDRAWN)
      return true
    },
  }
}
