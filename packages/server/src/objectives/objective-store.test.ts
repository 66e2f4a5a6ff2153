import type { ObjectiveWrite } from '@countersign/toolkit/internal'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { openTempPostgres, openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { objectives } from '../store/index.ts'
import { openObjectiveStore } from './index.ts'

const VALUES = { title: 'Grow', description: '', owner: 'Ana', period: '2026' }
const create = (key: string): ObjectiveWrite => ({
  attempt: { key, actionId: 'act_1', by: undefined },
  kind: 'created',
  before: null,
  after: VALUES,
  objective: { to: 'create', values: VALUES },
  add: [{ title: 'Users', metric: '', unit: '', start: 0, target: 10, current: 0 }],
})

for (const [name, open] of Object.entries({ SQLite: () => openTempSqlite(), Postgres: () => openTempPostgres() })) {
  test(`${name}: what is sent again under its key is done once, also side by side; of two changes of one version the second does nothing`, async () => {
    await using temp = await open()
    const clock = manualClock(Date.UTC(2026, 5))
    const kept = openObjectiveStore(temp.store, clock)
    const made = await Promise.all([kept.write(create('a.1')), kept.write(create('a.1')), kept.write(create('a.1'))])
    expect(new Set(made.map(({ objectiveId }) => objectiveId)).size).toBe(1)
    const [objective, ...others] = await kept.list({ limit: 10 })
    expect(others).toEqual([])
    expect(await kept.findWritten('a.1')).toEqual(made[0])
    expect(await kept.findWritten('a.2')).toBeUndefined()

    const { id = '', keyResults: [keyResult] = [] } = objective ?? {}
    const record = (key: string, current: number): ObjectiveWrite => ({
      attempt: { key, actionId: key, by: undefined },
      kind: 'progress_recorded',
      before: {},
      after: {},
      objective: { to: 'note', id },
      set: {
        id: keyResult?.id ?? '',
        version: 1,
        values: { title: 'Users', metric: '', unit: '', start: 0, target: 10, current },
        isRemoved: false,
      },
    })
    clock.pass(1)
    const ends = await Promise.allSettled([kept.write(record('b.1', 3)), kept.write(record('c.1', 4))])
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(ends.find((end) => end.status === 'rejected')).toMatchObject({ reason: { name: 'ToolError', kind: 'stale' } })
    const history = await temp.store.read(() =>
      objectives.listChanges({ objectiveId: id, keyResultId: undefined, before: undefined, limit: 10 }),
    )
    // The history has what happened, and nothing else.
    expect(history.map(({ kind }) => kind)).toEqual(['progress_recorded', 'created'])
    expect((await kept.find(id))?.keyResults).toMatchObject([{ version: 2, current: ends[0].status === 'fulfilled' ? 3 : 4 }])
  })

  test(`${name}: an objective is not closed beside a progress that its outcome was not judged by`, async () => {
    await using temp = await open()
    const kept = openObjectiveStore(temp.store, manualClock(Date.UTC(2026, 5)))
    for (let round = 0; round < 12; round++) {
      await kept.write(create(`make.${round}`))
      const [{ id = '', version = 0, keyResults: [keyResult] = [] } = {}] = await kept.list({ state: 'open', limit: 1 })
      const values = { title: 'Users', metric: '', unit: '', start: 0, target: 10, current: 10 }
      const [recorded, closed] = await Promise.allSettled([
        kept.write({
          ...{ attempt: { key: `record.${round}`, actionId: 'act_1', by: undefined }, kind: 'progress_recorded', before: {}, after: {} },
          ...{ objective: { to: 'note', id }, set: { id: keyResult?.id ?? '', version: 1, values, isRemoved: false } },
        }),
        kept.write(closing(id, version, [[keyResult?.id ?? '', 1]], `close.${round}`)),
      ])
      // Whichever comes first, the other is refused, and says so.
      expect([recorded.status, closed.status].sort(), `round ${round}`).toEqual(['fulfilled', 'rejected'])
      const end = recorded.status === 'rejected' ? recorded : closed
      expect(end).toMatchObject({ reason: { name: 'ToolError', kind: 'stale' } })
      if (closed.status === 'rejected') await kept.write(closing(id, version, [[keyResult?.id ?? '', 2]], `again.${round}`))
      expect((await kept.find(id))?.state).toBe('missed')
    }
  })
}

/** The closing of an objective as missed, judged by key results. */
const closing = (id: string, version: number, measured: [string, number][], key: string): ObjectiveWrite => ({
  ...{ attempt: { key, actionId: 'act_1', by: undefined }, kind: 'closed', before: {}, after: {} },
  objective: { to: 'set', id, version, values: VALUES, state: 'missed', measured },
})
