import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { raw, STORES } from '../../../../verification/testing/temp-store.ts'
import { type Clock, systemClock } from '../clock.ts'
import { principals, type Store } from '../store/index.ts'
import { startRecordCheck } from './check.ts'
import { openAuditKey } from './key.ts'
import { recordAudit } from './record.ts'
import { createSealer } from './sealer.ts'

const log = pino({ level: 'silent' })
/** Timeouts pass a thousand times as fast: the next of the regular checks would come after 22 s. */
const hurried: Clock = { ...systemClock, after: (ms, then) => systemClock.after(ms / 1_000, then) }

test.each(STORES)(
  'a check of the record that the database cut short is made again, and finds what was changed ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    await store.transact(function* (outbox) {
      yield* principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1)
      yield* recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now())
    })
    const sealer = createSealer(systemClock)
    sealer.start({ store, key: await openAuditKey(store, undefined), log })
    await expect.poll(() => sealer.status.signed).toBe(1)
    await store.transact(() => raw(sql`update audit set data = '{"from":"elsewhere"}' where kind = 'signed_in'`))
    let reads = 0
    const shaky: Store = {
      ...store,
      async read(work) {
        if (++reads === 2) throw new Error('the database does not answer')
        return store.read(work)
      },
    }
    await using _ = startRecordCheck({ store: shaky, sealer, clock: hurried, log })
    await expect.poll(() => sealer.status.problem).toMatchObject({ kind: 'changed' })
    expect(reads).toBeGreaterThan(2)
    await sealer.finish()
  },
)
