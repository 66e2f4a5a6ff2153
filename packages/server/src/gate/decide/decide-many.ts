import { type DecisionsAnswer, type DecisionsBody, isCountersignError, toProblem } from '@countersign/core'
import { type Caller, partOf } from '../caller.ts'
import type { GateDeps } from '../gate.ts'
import { decide } from './decide.ts'

/**
 * Decides many actions, each on its own: one that is refused keeps no other from being decided. Named twice, an action is decided once.
 */
export async function decideMany(deps: GateDeps, { items, ...body }: DecisionsBody, caller: Caller): Promise<DecisionsAnswer> {
  const results = items.map(async ({ id, ...shown }): Promise<DecisionsAnswer['results'][number]> => {
    try {
      return { id, status: 200, action: await decide(deps, id, { ...body, ...shown }, partOf(caller, id)) }
    } catch (error) {
      if (!isCountersignError(error)) throw error
      return { id, status: error.status, error: { ...toProblem(error), code: error.code, detail: error.message } }
    }
  })
  return { results: await Promise.all(results) }
}
