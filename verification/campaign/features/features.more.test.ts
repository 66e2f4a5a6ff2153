import { expect, test } from 'vitest'
import { type Pair, runFeatures } from './run.ts'

/** Every kind once, every phase twice. `npm run test:campaign -- --only features` meets each kind in each phase. */
const PAIRS: readonly Pair[] = [
  { kind: 'quorum', phase: 'after effect', fault: 'kill' },
  { kind: 'edit', phase: 'deciding', fault: 'kill' },
  { kind: 'grant', phase: 'before send', fault: 'kill' },
  { kind: 'delegation', phase: 'before send', fault: 'kill' },
  { kind: 'gateway', phase: 'sent', fault: 'kill' },
  { kind: 'github', phase: 'after effect', fault: 'kill' },
  { kind: 'linear', phase: 'sent', fault: 'kill' },
  { kind: 'openapi', phase: 'before settle', fault: 'kill' },
  { kind: 'workspace', phase: 'before settle', fault: 'kill' },
  { kind: 'objectives', phase: 'deciding', fault: 'kill' },
]

test('a server that is killed under quorums, edits, grants, delegations, the gateway and every source of tools loses nothing and does nothing twice', {
  timeout: 1_800_000,
}, async () => {
  const report = await runFeatures({ database: 'sqlite', seed: 1, least: 1, pairs: PAIRS, hasLate: false, say: () => undefined })
  expect(report.violations).toEqual([])
  expect(report.missing).toEqual([])
})
