import { createRequire } from 'node:module'
import type * as Pg from 'pg'

let loaded: typeof Pg | undefined

/** Returns node-postgres, which a server on SQLite never loads: 27 modules of its start (19 ms, 10 MB). */
export function pg(): typeof Pg {
  loaded ??= createRequire(import.meta.url)('pg') as typeof Pg
  return loaded
}
