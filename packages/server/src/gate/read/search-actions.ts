import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ActionRow, actions, type Store, type Tx, textPieces } from '../../store/index.ts'

/** How many actions are looked through in one piece: first a few, where most searches find enough. */
const PIECES = [2_000, 20_000] as const
/** How much text is looked through in one piece. */
const PIECE_BYTES = 2_000_000
/** No id is greater. */
const END = 'act_~'

/**
 * Returns the actions that match a filter: newest first, or with `ordered` in that order. A search that finds little looks through
 * everything: it does so in pieces, so that it does not block others meanwhile (0.8 s in one piece with 1,000,000 actions on SQLite). A search for
 * a text reads all of the arguments, so its pieces end by what they have of these, too.
 */
export async function searchActions(store: Store, filter: actions.ActionFilter): Promise<ActionRow[]> {
  if (filter.ordered) return await searchOrdered(store, filter, filter.ordered)
  const { createdAfter = 0, createdBefore } = filter.search ?? {}
  if (await isSettledRarely(store, filter)) return await store.read(() => actions.listActions({ ...filter, bySettled: true }))
  const earliest = actions.lowestIdAt(createdAfter)
  const latest = createdBefore === undefined ? END : actions.lowestIdAt(createdBefore)
  const found: ActionRow[] = []
  let before = filter.before !== undefined && filter.before < latest ? filter.before : latest
  for (let piece = 0; ; piece++) {
    const count = PIECES[piece] ?? PIECES[1]
    const from = await store.read(function* () {
      const oldest = yield* endBefore(filter, before, count)
      found.push(...(yield* actions.listActions({ ...filter, from: oldest, before, limit: filter.limit - found.length })))
      return oldest
    })
    if (from === undefined || from <= earliest || found.length >= filter.limit) return found
    before = from
    await nextTurn()
  }
}

/** The same in an order of settled actions: stretch after stretch, each in pieces. */
async function searchOrdered(
  store: Store,
  filter: actions.ActionFilter,
  { order, after }: NonNullable<actions.ActionFilter['ordered']>,
): Promise<ActionRow[]> {
  const found: ActionRow[] = []
  const isRare = order !== 'settled' && order !== 'settled_oldest' && (await isSettledRarely(store, filter))
  for (let stretch = after?.stretch ?? 0; stretch < actions.stretchesOf(order); stretch++) {
    let begin = stretch === after?.stretch ? after : undefined
    for (let piece = 0; ; piece++) {
      const place = { order, stretch, after: begin }
      const [end] = await store.read(function* () {
        const last = isRare ? [] : yield* placesBehind(filter, place, PIECES[piece] ?? PIECES[1])
        const upTo = last[0] && { stretch, ...last[0] }
        const limit = filter.limit - found.length
        found.push(...(yield* actions.listActions({ ...filter, bySettled: isRare, piece: { ...place, upTo }, limit })))
        return [upTo]
      })
      if (found.length >= filter.limit) return found
      if (end === undefined) break
      begin = end
      await nextTurn()
    }
  }
  return found
}

/** The id at which a piece before `before` ends; undefined for the last one. */
function* endBefore(filter: actions.ActionFilter, before: string, count: number): Tx<string | undefined> {
  const [state] = hasIndex(filter) ? (filter.states ?? []) : []
  if (isForText(filter)) return (yield* textPieces.textPieceBefore(before, state, { count, bytes: PIECE_BYTES }))[0]?.id
  return state === undefined ? (yield* actions.idBefore.first({ before, count }))?.id : undefined
}

const placesBehind = (filter: actions.ActionFilter, place: actions.Piece, count: number) =>
  isForText(filter)
    ? textPieces.textPieceBehind(place, filter.search ?? {}, { count, bytes: PIECE_BYTES })
    : actions.placeBehind(place, filter.search ?? {}, count)

/** True for a search that reads the arguments of actions. */
const isForText = ({ text, search }: actions.ActionFilter): boolean => text !== undefined || (search?.words ?? []).length > 0

/** True where a search is for what was settled in a time, and it is not more than a piece. */
async function isSettledRarely(store: Store, filter: actions.ActionFilter): Promise<boolean> {
  const { search = {} } = filter
  if (search.settledAfter === undefined && search.settledBefore === undefined) return false
  const [count] = await store.read(() => actions.countSettled(search, PIECES[1] + 1))
  if (count === undefined || Number(count.settled) > PIECES[1]) return false
  if (!isForText(filter)) return true
  const [texts] = await store.read(() => textPieces.settledBytes(search))
  return Number(texts?.bytes) <= PIECE_BYTES
}

/** True where an index has exactly the actions of the filter's state. */
const hasIndex = ({ states = [] }: actions.ActionFilter): boolean =>
  states.length === 1 && (states[0] === 'proposed' || states[0] === 'outcome_unknown')
