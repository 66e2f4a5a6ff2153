// A process of its own, because the server is loaded here with functions that can be made to do nothing: see `without.ts`.
import { once } from 'node:events'
import { standIn } from './cost-hooks.ts'
import { COST_POLICY } from './cost-policy.ts'
import type { Part } from './without.ts'

const { url, inFlight, cycles, rounds, warmUp, underTenRules } = JSON.parse(process.argv[2] ?? '{}')
standIn({
  'audit/record.ts': ['append', 'appendToScope'],
  'gate/propose/digest.ts': ['digestOf', 'preconditionOf'],
  'gate/execute/revalidate.ts': ['revalidate'],
  'gate/policy.ts': ['isInForce'],
  'gate/propose/prior-verdicts.ts': ['priorVerdicts'],
  'gate/decide/approval-validity.ts': ['approvalInvalidReason'],
  'policy/policies.ts': ['askPolicies'],
})
const { without } = await import('./without.ts')
const { sealAll } = await import('../packages/server/src/audit/seal.ts')
const { openBench } = await import('./engine.ts')
const { runCycles } = await import('./cycles.ts')

const PARTS: readonly Part[] = ['policy', 'digest', 'audit']
/** The parts added to the cycle: none, one, or all. */
const KINDS = { none: [], policy: ['policy'], digest: ['digest'], audit: ['audit'], all: PARTS } as const satisfies Record<
  string,
  readonly Part[]
>
type Kind = keyof typeof KINDS

/** The measurements of one round, by kind of cycle. */
export type CostBlock = Record<Kind, { wallMs: number; cpuMs: number }>

const kinds = Object.keys(KINDS) as Kind[]

const bench = await openBench(url, underTenRules ? COST_POLICY : undefined)

/** One block of cycles with these parts, up to the seal on their rows: what it took, in ms a cycle. */
async function block(kind: Kind, count: number) {
  for (const part of PARTS) without[part] = !(KINDS[kind] as readonly Part[]).includes(part)
  const cpu = process.cpuUsage()
  const begin = performance.now()
  const made = await runCycles(bench, inFlight, count)
  const { store, auditKey, clock } = bench.engine
  await sealAll(store, auditKey, () => clock.nowMs())
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs: (performance.now() - begin) / made.length, cpuMs: (user + system) / 1000 / made.length }
}

const shuffled = (all: readonly Kind[]): Kind[] =>
  all
    .map((kind) => ({ kind, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ kind }) => kind)

for (const kind of kinds) await block(kind, warmUp)
const all: CostBlock[] = []
for (let round = 0; round < rounds; round++) {
  const made: Partial<CostBlock> = {}
  // In an order drawn anew: what else the machine does, and what a block leaves to the next one to tidy up, hits all of them.
  for (const kind of shuffled(kinds)) made[kind] = await block(kind, cycles)
  all.push(made as CostBlock)
}
process.send?.(all)
await once(process, 'disconnect')
await bench.close()
