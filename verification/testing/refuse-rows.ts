import { sql } from 'kysely'
import type { Store } from '../../packages/server/src/store/index.ts'
import { raw } from './temp-store.ts'

/** From now on the database refuses rows of the record of one kind, or none again. */
export async function refuseRows({ store, isPostgres }: { store: Store; isPostgres: boolean }, kind: string | undefined): Promise<void> {
  await store.transact(function* () {
    if (isPostgres) {
      yield* raw(sql`drop trigger if exists refuse on audit`)
      yield* raw(
        sql`create or replace function refuse() returns trigger language plpgsql as 'begin raise exception ''no room for the record''; end'`,
      )
      if (kind)
        yield* raw(
          sql`create trigger refuse before insert on audit for each row when (new.kind = ${sql.lit(kind)}) execute function refuse()`,
        )
    } else {
      yield* raw(sql`drop trigger if exists refuse`)
      if (kind) {
        yield* raw(
          sql`create trigger refuse before insert on audit when new.kind = ${sql.lit(kind)} begin select raise(abort, 'no room for the record'); end`,
        )
      }
    }
  })
}
