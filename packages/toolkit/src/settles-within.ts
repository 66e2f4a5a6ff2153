import { durationMs } from '@countersign/core'

interface Around {
  timeoutMs: number
  /** True for a tool that has `verify`. */
  canLook: boolean
}

/**
 * For how many ms the effect of a lost attempt may still come; undefined where its tool does not say.
 * @param given ISO 8601, or ms.
 * @param fault Takes what is wrong with it.
 */
export function readSettlesWithin(
  given: string | number | undefined,
  { timeoutMs, canLook }: Around,
  fault: (words: string) => void,
): number | undefined {
  if (given === undefined) return undefined
  if (!canLook) fault('is only for tools with verify: nothing else finds a late effect')
  const ms = typeof given === 'number' ? given : durationMs(given)
  if (ms === undefined || !Number.isSafeInteger(ms)) fault('must be an ISO 8601 duration from PT1S to P400D, for example PT5M')
  else if (ms < timeoutMs) fault(`must be at least the timeout of ${timeoutMs} ms: a request may be answered until then`)
  else return ms
  return undefined
}
