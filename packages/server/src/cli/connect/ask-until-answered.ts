import { setTimeout } from 'node:timers/promises'
import type { JsonObject } from '@countersign/core'
import { Refused, Unreachable } from '../api.ts'

/** A server that is not back after so many tries is away. */
const MAX_TRIES = 30

export interface AskUntilAnswered {
  /** Ends the waiting: nobody needs the answer any more, or its time is up. */
  signal?: AbortSignal
  /** The wait before the next try. Default: a second, so that a server has half a minute to start. */
  againMs?: number | undefined
}

/**
 * Returns the answer to a message for the server. When the server stops, its connection breaks or nobody listens, the message is sent again:
 * a server that starts finds the question.
 * @throws Error of the last try.
 */
export async function askUntilAnswered(
  ask: (signal?: AbortSignal) => Promise<JsonObject>,
  { signal, againMs = 1_000 }: AskUntilAnswered = {},
): Promise<JsonObject> {
  for (let tries = 1; ; tries++) {
    let failed: unknown = new Unreachable('Countersign was stopped, and did not start in time')
    try {
      const answer = await ask(signal)
      if (answer.decision !== 'later') return answer
      tries = 0
    } catch (error) {
      if (!mayBeBack(error) || tries >= MAX_TRIES) throw error
      failed = error
    }
    await setTimeout(againMs, undefined, signal && { signal }).catch(() => {
      throw failed
    })
  }
}

/** Nobody listens, or the connection broke. */
const AWAY_CODES: readonly unknown[] = ['ECONNREFUSED', 'ECONNRESET']
/** The server has only started, or a proxy before it cannot reach it. */
const AWAY_STATUSES = [502, 503, 504]

function mayBeBack(error: unknown): boolean {
  if (error instanceof Refused) return AWAY_STATUSES.includes(error.status)
  return error instanceof Unreachable && error.cause instanceof Error && 'code' in error.cause && AWAY_CODES.includes(error.cause.code)
}
