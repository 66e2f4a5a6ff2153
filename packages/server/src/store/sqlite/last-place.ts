import type { DatabaseSync } from 'node:sqlite'

const LAST_PLACE = `select max(place) as last from (
  select max(id) as place from event
  union all select max(id) from audit
  union all select max(last_event) from archive_file
  union all select cast(value as integer) from setting where name = 'log.last_place'
)`

/**
 * Returns the last place of the log that was ever used; 0 before the first. A place is not used again after its row was deleted: what deletes
 * the newest rows of a session writes another one in the same transaction, and the archive notes how far it came.
 */
export const findLastPlace = (db: DatabaseSync): number => Number(db.prepare(LAST_PLACE).get()?.last ?? 0)
