import { readCommand } from '@countersign/core'
import { expect, test } from 'vitest'
import { runTyped, typedSetup } from '../campaign/typed/run-typed.ts'
import { TEXTS, WORDS } from '../campaign/typed/texts.ts'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { startTarget } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

test('10,000 texts around the command words decide nothing; the exact word of the right person decides, and of nobody else', async () => {
  expect(TEXTS.length).toBeGreaterThan(10_000)
  expect(TEXTS.filter((text) => readCommand(text) !== undefined)).toEqual([])

  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    ...typedSetup(target),
    environment: { COUNTERSIGN_MAX_REQUESTS: '0', COUNTERSIGN_MAX_FAILURES: '0' },
  })
  const report = await runTyped({
    database: server.database,
    admin: server.admin,
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` },
    // `npm run test:campaign -- --only typed` runs all of them.
    texts: TEXTS.filter((_, i) => i % 100 === 0),
    endsAt: Number.POSITIVE_INFINITY,
    say: () => undefined,
  })
  expect(report.violations).toEqual([])
  expect(Object.values(report.sent).every((count) => count > 100)).toBe(true)
  expect([Object.keys(report.sent).length, report.decided]).toEqual([9, 3 * WORDS.length])
  const votes = (await server.dump()).vote as unknown[]
  expect(votes).toHaveLength(report.decided)
})
