import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { raw, STORES } from '../../../../verification/testing/temp-store.ts'
import { withTurns } from '../../../../verification/testing/with-turns.ts'
import { actions, principals } from '../store/index.ts'
import { anAction } from '../store/testing/an-action.ts'
import { reportShadow } from './shadow-report.ts'

const BEGUN = Date.parse('2026-11-01T12:00:00Z')
const BEN = { id: 'prn_ben', personId: 'prn_ben', roles: [] }

test.each(STORES)(
  'the report of a trial counts all that its reader sees, and other work has its turn meanwhile ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    const idOf = (n: number): string => actions.lowestIdAt(BEGUN + (n - 10) * 60_000)
    await store.transact(function* () {
      for (const id of ['prn_ana', BEN.id]) yield* principals.savePrincipal({ id, kind: 'person', name: id, roles: [], personId: id }, 1)
      yield* raw(sql`insert into policy_version (number, document, digest, source, reason, in_use, replaces, created_at)
        values (1, '{}', 'd1', 'api', '', 'force', null, 1), (2, '{}', 'd2', 'api', '', 'shadow', 1, ${BEGUN})`)
    })
    // The first ten were proposed before the trial. Every hundredth is Ben's.
    for (let first = 0; first < 5_010; first += 501)
      await store.transact(function* () {
        for (let n = first; n < first + 501; n++)
          yield* actions.insertAction.run(anAction(idOf(n), { requested_by: n % 100 === 0 ? BEN.id : 'prn_ana', tool: `t${n}` }))
      })
    // One of them was asked again during the trial. Of the others, those with even numbers differ.
    await store.transact(() =>
      raw(sql`insert into policy_difference (shadow, action_id, in_force, was, would_be, said)
        select 2, id, 1, 'ask', case when tool like '%00' then 'deny' else 'allow' end, '{"rule":"r","reason":"why"}'
        from action where tool = 't1' or (id >= ${idOf(10)} and substr(tool, length(tool)) in ('0', '2', '4', '6', '8'))`),
    )
    const all = await withTurns(() => reportShadow(store, undefined))
    expect(all.result).toMatchObject({
      ...{ version: 2, basedOn: 1, since: '2026-11-01T12:00:00.000Z', evaluated: 5_000, differences: 2_501 },
      counts: [
        { was: 'ask', wouldBe: 'allow', count: 2_451 },
        { was: 'ask', wouldBe: 'deny', count: 50 },
      ],
    })
    expect(all.result.samples.map(({ tool }) => tool)).toEqual(Array.from({ length: 50 }, (_, at) => `t${5_008 - 2 * at}`))
    expect(all.turns).toBeGreaterThanOrEqual(3)
    const { result, turns } = await withTurns(() => reportShadow(store, BEN))
    expect(result).toMatchObject({ evaluated: 50, differences: 50, counts: [{ was: 'ask', wouldBe: 'deny', count: 50 }] })
    expect(result.samples.map(({ tool }) => tool)).toEqual(Array.from({ length: 50 }, (_, at) => `t${5_000 - 100 * at}`))
    expect(turns).toBeGreaterThanOrEqual(3)
  },
)
