import type { JsonObject, Principal } from '@countersign/core'
import { type Condition, readCondition } from '../packages/server/src/policy/condition.ts'
import { Facts } from '../packages/server/src/policy/facts.ts'
import { Meter } from '../packages/server/src/policy/meter.ts'
import { statsOf } from './stats.ts'

/** Arguments as hostile as a call can bring them: lists, maps and texts of the largest size that is taken, and patterns against them. */
const ARGS: JsonObject = {
  n: Array.from({ length: 40_000 }, (_, i) => i),
  s: Array.from({ length: 500 }, (_, i) => i),
  w: Array.from({ length: 5_000 }, (_, i) => `word ${i}`),
  m: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key${i}`, i])),
  r: Array.from({ length: 200 }, () => ({ c: Array.from({ length: 50 }, (_, i) => i) })),
  t: 'a'.repeat(100_000),
  u: `${'a'.repeat(20_000)}b`,
  v: `${'a'.repeat(500)}b${'a'.repeat(500)}`,
  e: '😀'.repeat(10_000),
  g: `${'*a'.repeat(2_000)}b`,
  z: ['Europe/Berlin', 'Asia/Tokyo', 'America/New_York', 'no/where', 'Africa/Cairo', 'Asia/Seoul'],
}

const SOMEBODY: Principal = { id: 'prn_bench', kind: 'person', name: 'Bench', roles: ['admin'] }

/** Numbers that look random and are the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Conditions that read and cost as much as they can: loops in loops over large arguments, errors that are swallowed, texts that grow. */
function makeCondition(below: (n: number) => number): string {
  const one = <T>(of: readonly T[]): T => of[below(of.length)] as T
  let names = 0
  const list = (depth: number): string =>
    depth > 0 && below(3) === 0
      ? one([
          () => `${list(depth - 1)}.map(${name(depth)}, ${value(depth - 1)})`,
          () => `${list(depth - 1)}.filter(${name(depth)}, ${bool(depth - 1)})`,
          () => `(${list(depth - 1)} + ${list(depth - 1)})`,
        ])()
      : one(['args.n', 'args.s', 'args.w', 'args.r', 'args.z', 'args.m'])
  const text = (depth: number): string =>
    depth > 0 && below(2) === 0
      ? one([
          () => `(${text(depth - 1)} + ${text(depth - 1)})`,
          () => `${text(depth - 1)}.lowerAscii()`,
          () => `${text(depth - 1)}.trim()`,
          () => `${text(depth - 1)}.substring(${below(5_000)})`,
          () => `string(${value(depth - 1)})`,
        ])()
      : one(['args.t', 'args.u', 'args.v', 'args.e', 'args.g', 'args.w[7]', '"aaab"'])
  const bound: string[] = []
  const name = (_depth: number): string => {
    bound.push(`x${names++}`)
    return bound.at(-1) ?? 'x'
  }
  const value = (depth: number): string =>
    one([
      () => text(depth),
      () => list(depth),
      () => `size(${one([text, list])(depth)})`,
      () => bound.at(-1) ?? '1',
      () => `now.getHours(${one(['"Europe/Berlin"', '"no/where"', 'args.z[1]', 'args.z[4]'])})`,
      () => `${text(depth)}.${one(['indexOf', 'lastIndexOf'])}(${text(depth)})`,
      () => `int(${text(0)})`,
      () => 'timestamp("2026-01-01T00:00:00Z")',
      () => 'duration("1h2m3s")',
      () => 'args.missing',
    ])()
  const bool = (depth: number): string =>
    depth === 0
      ? one([
          () => `${bound.at(-1) ?? '1'} == 1`,
          () => `${text(0)}.${one(['contains', 'contains', 'endsWith'])}(${text(0)})`,
          () => `${text(0)}.fits(${text(0)})`,
          () => 'args == args',
          () => 'args.m == args.m',
          () => 'args.missing == 1 || true',
          () => '7 in args.n',
        ])()
      : one([
          () => loop('all', depth),
          () => loop('exists', depth),
          () => loop('exists_one', depth),
          () => loop('all', depth),
          () => `(${bool(depth - 1)} || ${bool(depth - 1)})`,
          () => `(${value(depth - 1)} == ${value(depth - 1)})`,
          () => `(${value(depth - 1)} in ${list(depth - 1)})`,
          () => `${text(depth - 1)}.contains(${text(depth - 1)})`,
        ])()
  const loop = (macro: string, depth: number): string => {
    const over = list(depth - 1)
    return `${over}.${macro}(${name(depth)}, ${bool(depth - 1)})`
  }
  return bool(3)
}

/** Measures each generated condition with hostile arguments. Takes the fastest of several runs to exclude other load on the machine. */
export function benchConditions(count: number) {
  const below = randomOf(1)
  const tool = { name: 'refund', group: 'shop', effect: 'write' as const, destination: 'local' }
  const facts = new Facts({ tool, arguments: ARGS, agent: 'desk', session: null, requester: SOMEBODY, nowMs: Date.now() })
  const made: { ms: number; firstMs: number; when: string; condition: Condition; isFailed: boolean }[] = []
  const timed = (condition: Condition, count: number) => {
    let outcome: unknown
    const times = Array.from({ length: count }, () => {
      const begin = performance.now()
      outcome = condition(facts, new Meter())
      return performance.now() - begin
    })
    return { times, outcome }
  }
  while (made.length < count) {
    const when = makeCondition(below)
    const read = readCondition(when)
    if ('problem' in read) continue
    const { times, outcome } = timed(read.condition, 5)
    made.push({ ms: Math.min(...times), firstMs: times[0] ?? 0, when, condition: read.condition, isFailed: typeof outcome !== 'boolean' })
  }
  // Those that seem to cost the most, more often: what was only disturbed is not among them then.
  for (const one of made.toSorted((a, b) => b.ms - a.ms).slice(0, 50)) one.ms = Math.min(one.ms, ...timed(one.condition, 20).times)
  const costly = made.toSorted((a, b) => b.ms - a.ms).slice(0, 3)
  return {
    ms: statsOf(made.map(({ ms }) => ms)),
    firstMs: statsOf(made.map(({ firstMs }) => firstMs)),
    failed: made.filter(({ isFailed }) => isFailed).length,
    costliest: costly.map(({ ms, when }) => ({ ms: Number(ms.toFixed(2)), when })),
  }
}
