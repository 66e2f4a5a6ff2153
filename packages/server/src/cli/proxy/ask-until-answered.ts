import { setTimeout } from 'node:timers/promises'
import type { JsonObject } from '@countersign/core'
import { Refused } from '../api.ts'

/** A server that is not back after so many tries is away. */
const MAX_TRIES = 60

/**
 * Returns the answer to a question that people may take long for. When the server stops meanwhile, or its connection breaks, it is asked
 * again: a server that starts finds the question. A server that cannot be asked at all is not waited for.
 * @throws Error of the last try.
 */
export async function askUntilAnswered(
  ask: (signal: AbortSignal) => Promise<JsonObject>,
  { signal, againMs = 1_000 }: { signal: AbortSignal; againMs?: number | undefined },
): Promise<JsonObject> {
  let wasAsked = false
  for (let tries = 1; ; tries++) {
    try {
      const answer = await ask(signal)
      if (answer.decision !== 'later') return answer
      wasAsked = true
      tries = 0
    } catch (error) {
      wasAsked ||= hasBroken(error)
      const mayBeBack = hasBroken(error) || isAway(error)
      if (!wasAsked || !mayBeBack || signal.aborted || tries >= MAX_TRIES) throw error
    }
    await setTimeout(againMs, undefined, { signal })
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : undefined

const hasBroken = (error: unknown): boolean => codeOf(error) === 'ECONNRESET'

/** Nobody listens, or the server has only started. */
const isAway = (error: unknown): boolean => codeOf(error) === 'ECONNREFUSED' || (error instanceof Refused && error.status === 503)
