import type { SeenBy } from '@countersign/core'
import { type ActionRow, seen, type Tx } from '../../store/index.ts'
import { isoTime } from './view.ts'

/** Returns the people who have seen the current revision of an action, the latest first. Only persons are told: an agent could press the people it waits for. */
export function* viewSeenBy({ id, revision }: Pick<ActionRow, 'id' | 'revision'>): Tx<SeenBy[]> {
  return (yield* seen.seenRevision.all({ action_id: id, revision })).map(viewSeen)
}

/** Returns the people who have seen any revision of it, the earliest first. */
export function* viewSeenStory({ id }: Pick<ActionRow, 'id'>): Tx<SeenBy[]> {
  return (yield* seen.seenAction.all({ action_id: id })).reverse().map(viewSeen)
}

const viewSeen = ({ principal_id, name, revision, seen_at }: seen.NamedSeenRow): SeenBy => ({
  by: { id: principal_id, name },
  revision,
  at: isoTime(seen_at),
})
