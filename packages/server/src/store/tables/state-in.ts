import { ACTION_STATES, type ActionState, hasEnded } from '@countersign/core'
import { sql } from 'kysely'
import { lit } from '../query.ts'

/** Returns `(a, b, …)` for `state in`, of literals: a partial index serves a query that names exactly its states in their order. */
export const listOfStates = (states: readonly ActionState[]) => sql`(${sql.join(states.map(lit))})`

/** The states of actions that have not ended. */
export const NOT_ENDED = listOfStates(ACTION_STATES.filter((state) => !hasEnded(state)))
