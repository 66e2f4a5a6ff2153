import { EARLIER_DENIAL } from '../../policy/index.ts'
import { type ActionRow, actions, stored, type Tx, votes } from '../../store/index.ts'
import { keyOf } from '../decide/rights.ts'
import { votesCountedAtEnd } from '../read/count.ts'

/** How often a run may propose again what people declined in it, before it is stopped. */
export const MAX_REPEATS = 3

type Place = Pick<ActionRow, 'session_id' | 'run_id' | 'digest'>

/** Returns the decline of the same call earlier in the same run, which declines this one; undefined when there is none. */
export function* findEarlierDenial(place: Place): Tx<{ verdict: 'deny'; rule: typeof EARLIER_DENIAL; reason: string } | undefined> {
  const [first] = yield* declinedAlike(place)
  if (!first) return undefined
  const cast = yield* votes.votesOf.all(keyOf(first))
  const counted = yield* votesCountedAtEnd(first, cast)
  const reason = cast.findLast((vote) => vote.verdict === 'decline' && vote.reason !== null && counted.has(vote))?.reason
  const said = reason === undefined ? '' : `: ${reason}`
  return { verdict: 'deny', rule: EARLIER_DENIAL, reason: `A person declined exactly this before${said}. Do not propose it again` }
}

/** True when a run has proposed an action too often that people had declined in it. */
export function* isRepeatedTooOften(row: ActionRow): Tx<boolean> {
  if (stored.policyOf(row).rule !== EARLIER_DENIAL) return false
  return (yield* declinedAlike(row)).filter((other) => stored.policyOf(other).rule === EARLIER_DENIAL).length >= MAX_REPEATS
}

/** Returns the actions of a run with one digest that were declined, by people or because of an earlier decline, the first one first. */
function* declinedAlike({ session_id, run_id, digest }: Place): Tx<ActionRow[]> {
  if (session_id === null || run_id === null) return []
  const rows = yield* actions.declinedWith.all({ session_id, digest })
  return rows.filter((row) => {
    const { verdict, rule } = stored.policyOf(row)
    return row.run_id === run_id && (verdict === 'ask' || rule === EARLIER_DENIAL)
  })
}
