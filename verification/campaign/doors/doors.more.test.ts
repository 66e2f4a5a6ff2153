import { expect, test } from 'vitest'
import { compareRefusals, createLedger } from './ledger.ts'
import { runDoors } from './run-doors.ts'

// A small part of `npm run test:campaign -- --only doors`.
for (const database of ['sqlite', 'postgres'] as const) {
  test(`${database}: whoever tries to walk round the gate causes nothing that no right person decided, and is in the record`, async () => {
    const options = { database, seed: 7, rounds: 2, minutes: Number.POSITIVE_INFINITY, hasBrowser: database === 'sqlite' }
    const report = await runDoors({ ...options, say: () => undefined })
    expect(report.violations).toEqual([])
    expect(report.decided).toBeGreaterThan(0)
    expect(report.undecided).toBeGreaterThan(0)
    for (const attacker of ['agent with a shell', 'thief of the database', 'person who left', 'admin who cheats']) {
      expect(report.reached[attacker], attacker).toBeGreaterThan(5)
    }
    if (options.hasBrowser) expect(report.reached['dev server on another port']).toBeGreaterThan(5)
  })
}

test('an attempt that passes, one that is not in the record, and one that is in it too often are violations', () => {
  const ledger = createLedger()
  const tried = { attacker: 'Eve', method: 'POST', path: '/api/keys' }
  ledger.note({ ...tried, status: 401 })
  ledger.note({ ...tried, status: 403, principalId: 'prn_eve' })
  ledger.note({ ...tried, path: '/api/sign-in', status: 401 })
  ledger.note({ ...tried, path: '/api/sign-in', status: 401, hasWrongKey: true })
  ledger.note({ ...tried, method: 'GET', status: 200 })
  ledger.note({ ...tried, status: 201, mayPass: true })
  expect(ledger.violations).toEqual([])
  const recorded = { byActor: new Map([...ledger.refusals.byActor]), signIns: 1 }
  expect(recorded.byActor).toEqual(new Map(Object.entries({ system: 2, prn_eve: 1 })))
  expect(compareRefusals(ledger.refusals, recorded)).toEqual([])
  expect(compareRefusals(ledger.refusals, { ...recorded, byActor: new Map([['system', 3]]) })).toEqual([
    'system was refused 2 times, and the record says 3',
    'prn_eve was refused 1 times, and the record says 0',
  ])
  expect(compareRefusals(ledger.refusals, { ...recorded, signIns: 0 })).toHaveLength(1)
  for (const status of [200, 500]) ledger.note({ ...tried, status })
  expect(ledger.violations).toEqual(['Eve: POST /api/keys was answered 200', 'Eve: POST /api/keys was answered 500'])
})
