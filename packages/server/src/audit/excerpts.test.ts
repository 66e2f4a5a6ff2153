import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sealToTheEnd } from '../../../../verification/testing/seal-to-the-end.ts'
import { openTempSqlite, STORES } from '../../../../verification/testing/temp-store.ts'
import { audit, lock, type Store } from '../store/index.ts'
import { exportLines } from './export.ts'
import { type AuditKey, openAuditKey } from './key.ts'
import { appendToScope } from './record.ts'
import { SYSTEM } from './row.ts'
import { verifyExport } from './verify.ts'

const DAY_MS = 24 * 3_600_000
const MONDAY = Date.UTC(2026, 10, 2)
const after = (days: number): number => MONDAY + days * DAY_MS

interface Place {
  store: Store
  key: AuditKey
}

interface Written {
  scope: string
  /** Epoch ms, by a clock that may be wrong. */
  at: number
  isRedaction?: boolean
}

const write = ({ store }: Place, { scope, at, isRedaction = false }: Written): Promise<void> =>
  store.transact(function* (outbox) {
    yield* lock(scope)
    if (isRedaction) yield* audit.blankRows({ scope, actionId: scope })
    yield* appendToScope(outbox, scope, { kind: isRedaction ? 'redacted' : 'proposed', actor: SYSTEM, actionId: scope, data: {} }, at)
  })

const seal = ({ store, key }: Place) => sealToTheEnd(store, key, () => MONDAY)

/** Exports a part of the record as the server does, and verifies it; against every head of the record, too, where it has one. */
async function verified(place: Place, since: number | undefined, until: number | undefined) {
  const { store, key } = place
  const remembered = await store.read(() => audit.lastHead.first({}))
  const lines = exportLines({ store, key, nowMs: after(99), remembered, since, until, sealMore: () => seal(place) })
  const exported = (await text(lines)).split('\n').slice(0, -1)
  const verdict = await verifyExport(exported, [key.publicKey])
  if (verdict.problem !== undefined || !verdict.heads) return verdict
  const anchors = await store.read(() => audit.headsUpTo.all({ after: 0, last: Number.MAX_SAFE_INTEGER, limit: 1_000 }))
  return verifyExport(exported, [key.publicKey], { anchors })
}

const intact = (first: number, last: number) => ({ problem: undefined, heads: { first, last } })

test.each(STORES)(
  'an excerpt since a time after which nothing was recorded verifies, with the newest head ($database)',
  async ({ open }) => {
    await using temp = await open()
    const place = { store: temp.store, key: await openAuditKey(temp.store, undefined) }
    for (const at of [after(0), after(1)]) {
      await write(place, { scope: 'act_a', at })
      await seal(place)
    }
    expect(await verified(place, after(1), undefined)).toMatchObject(intact(2, 2))
    expect(await verified(place, after(5), undefined)).toMatchObject(intact(2, 2))
    // The newest row has an earlier time: the clock was set back.
    for (const at of [after(6), after(3)]) {
      await write(place, { scope: 'act_a', at })
      await seal(place)
    }
    expect(await verified(place, after(5), undefined)).toMatchObject(intact(3, 4))
    expect(await verified(place, after(7), after(8))).toMatchObject({ problem: undefined, heads: undefined })
  },
)

test.each(STORES)(
  'an excerpt up to a time verifies where the first row was written with a clock that was ahead ($database)',
  async ({ open }) => {
    await using temp = await open()
    const place = { store: temp.store, key: await openAuditKey(temp.store, undefined) }
    for (const at of [Date.UTC(2036, 0, 1), after(0), after(1), after(5)]) {
      await write(place, { scope: 'act_a', at })
      await seal(place)
    }
    expect(await verified(place, undefined, after(3))).toMatchObject(intact(1, 3))
    expect(await verified(place, after(0), after(3))).toMatchObject(intact(2, 3))
    expect(await verified(place, undefined, after(-1))).toMatchObject({ problem: undefined, heads: undefined })
  },
)

test('every excerpt of an untouched record verifies, whenever its rows were written and whatever was redacted', async () => {
  const day = fc.nat(6)
  const row = fc.record({
    scope: fc.constantFrom('act_a', 'act_b', 'act_c'),
    at: day.map(after),
    isRedaction: fc.boolean(),
    isSealed: fc.boolean(),
  })
  const bound = fc.option(fc.integer({ min: -1, max: 7 }).map(after), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 12 }),
      fc.array(fc.tuple(bound, bound), { minLength: 10, maxLength: 10 }),
      async (rows, bounds) => {
        await using temp = await openTempSqlite()
        const place = { store: temp.store, key: await openAuditKey(temp.store, undefined) }
        for (const { isSealed, ...written } of rows) {
          await write(place, written)
          if (isSealed) await seal(place)
        }
        for (const [since, until] of bounds) expect((await verified(place, since, until)).problem).toBeUndefined()
      },
    ),
    { numRuns: 20 },
  )
})
