import { z } from 'zod'

const Id = z.union([z.string(), z.number()])
const Cancelled = z.object({ method: z.literal('notifications/cancelled'), params: z.object({ requestId: Id }) })
const Asked = z.object({ method: z.string(), id: Id })

export interface RunningCall {
  /** Aborts when the client took the request back. */
  readonly cancelled: AbortSignal
  /** It was answered, or nobody is there any more. */
  end(): void
}

/**
 * Requests under way, so that a client which cancels one is not waited for any longer. Only the waiting ends: the action stays what it is,
 * and the same call finds it again. In another process than the request's it has no effect; the client hangs up there anyway.
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
        end() {
          if (name !== undefined && running.get(name) === controller) running.delete(name)
        },
      }
    },
    cancel(sessionId, body) {
      const { data } = Cancelled.safeParse(body)
      if (!data) return false
      running.get(nameOf(sessionId, data.params.requestId))?.abort()
      return true
    },
  }
}
