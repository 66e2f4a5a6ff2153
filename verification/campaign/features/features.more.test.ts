import { expect, test } from 'vitest'
import { type Pair, runFeatures } from './run.ts'

/** Every kind once, every phase twice. `npm run test:campaign -- --only features` meets each kind in each phase. */
const PAIRS: readonly Pair[] = [
  { kind: 'quorum', phase: 'after effect' },
  { kind: 'edit', phase: 'deciding' },
  { kind: 'grant', phase: 'before send' },
  { kind: 'delegation', phase: 'before send' },
  { kind: 'gateway', phase: 'sent' },
  { kind: 'github', phase: 'after effect' },
  { kind: 'linear', phase: 'sent' },
  { kind: 'openapi', phase: 'before settle' },
  { kind: 'workspace', phase: 'before settle' },
  { kind: 'objectives', phase: 'deciding' },
]

test('a server that is killed under quorums, edits, grants, delegations, the gateway and every source of tools loses nothing and does nothing twice', {
  timeout: 600_000,
}, async () => {
  const report = await runFeatures({ database: 'sqlite', seed: 1, least: 1, pairs: PAIRS, hasLate: false, say: () => undefined })
  expect(report.violations).toEqual([])
  expect(report.missing).toEqual([])
})
