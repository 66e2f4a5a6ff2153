import { durationMs, type Effect } from '@countersign/core'

/** For how many ms a read's result may be given again; undefined where its tool does not say. @param fault Takes what is wrong with it. */
export function readCacheFor(text: string | undefined, effect: Effect, fault: (words: string) => void): number | undefined {
  if (text === undefined) return undefined
  if (effect !== 'read') fault('is only for reads: a write is carried out each time')
  const ms = durationMs(text)
  if (ms === undefined) fault('must be an ISO 8601 duration from PT1S to P400D, for example PT30S')
  return ms
}
