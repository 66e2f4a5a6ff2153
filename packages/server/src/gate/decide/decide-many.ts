import { type DecisionsAnswer, type DecisionsBody, isCountersignError, toProblem } from '@countersign/core'
import { type Caller, partOf } from '../caller.ts'
import { decide } from './decide.ts'
import type { GateParts } from '../gate.ts'

/**
 * Decides many actions, each on its own: one that is refused keeps no other from being decided. Named twice, an action is decided once.
 */
export async function decideMany(parts: GateParts, { items, ...body }: DecisionsBody, caller: Caller): Promise<DecisionsAnswer> {
  const results = items.map(async ({ id, ...shown }): Promise<DecisionsAnswer['results'][number]> => {
    try {
      return { id, status: 200, action: await decide(parts, id, { ...body, ...shown }, partOf(caller, id)) }
    } catch (error) {
      if (!isCountersignError(error)) throw error
      return { id, status: error.status, error: { ...toProblem(error), code: error.code, detail: error.message } }
    }
  })
  return { results: await Promise.all(results) }
}
