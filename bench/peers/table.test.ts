import { expect, test } from 'vitest'
import type { Block } from './cycles.ts'
import { type Blocks, figuresOf, type Probe, type Report } from './report.ts'
import { SYSTEMS, type SystemKey } from './systems.ts'
import { toMarkdown } from './table.ts'

const systemOf = (key: string): SystemKey => {
  const found = SYSTEMS.find((system) => system.key === key)
  if (found === undefined) throw new Error(`no system ${key}`)
  return found
}

/** A second with so many cycles. */
const block = (cycles: number): Block => ({ inFlight: 1, cycleMs: Array.from({ length: cycles }, () => 1000 / cycles), wallMs: 1000 })

const BLOCKS: Blocks = new Map([
  ['countersign-sqlite', { 1: [block(100), block(50), block(200)], 32: [block(400)] }],
  ['langgraph-sqlite', { 1: [block(50), block(50), block(50)], 32: [] }],
])

test('a ratio compares the blocks of the same round, and the median is taken of the ratios', () => {
  expect(figuresOf(BLOCKS, systemOf('langgraph-sqlite'), 1)).toMatchObject({ cyclesPerSecond: 50, ratio: 0.5, range: [50, 50] })
  expect(figuresOf(BLOCKS, systemOf('countersign-sqlite'), 1)).toMatchObject({ cyclesPerSecond: 100, ratio: 1, range: [50, 200] })
})

test('a system without blocks has no figures, and one without Countersign beside it has no ratio', () => {
  expect(figuresOf(BLOCKS, systemOf('langgraph-sqlite'), 32)).toBeUndefined()
  const alone = new Map([['dbos-postgres', { 1: [block(10)], 32: [] }]])
  expect(figuresOf(alone, systemOf('dbos-postgres'), 1)).toMatchObject({ cyclesPerSecond: 10, ratio: null })
})

const no: Probe = { verdict: 'no', sentence: 'The effect was made twice.' }

const REPORT: Report = {
  at: '2026-11-23T20:00:00.000Z',
  machine: { cpu: 'Any CPU', cores: 2, memoryGiB: 8, kernel: '6', node: '26', sqlite: '3' },
  rounds: 5,
  blockMs: 4_000,
  rows: [
    {
      key: 'langgraph-sqlite',
      name: 'LangGraph',
      database: 'sqlite',
      packages: { '@langchain/langgraph': '1.7.3' },
      at1: { cyclesPerSecond: 50, range: [50, 50], cycleMs: { n: 150, median: 20, p95: 1234.5, p99: 2000 }, ratio: 0.5 },
      probes: { sameDecisionTwice: no, crashAfterEffect: no, oneOfTwoDeclined: no, onDiskBeforePause: no },
    },
    { key: 'eve', name: 'eve', database: 'own', packages: { eve: '1.0.0' }, notRun: 'it did not start: no.' },
  ],
}

test('the table has a line for each system that ran, and a reason for each that did not', () => {
  const markdown = toMarkdown(REPORT)
  const lines = markdown.split('\n')
  const columns = lines.find((line) => line.startsWith('| system'))?.split('|').length
  expect(lines).toContain('| LangGraph, SQLite | 50 | 0.5 × | 20 / 1230 / 2000 | — | — | — | no | no | no | no |')
  expect(lines.find((line) => line.startsWith('| LangGraph'))?.split('|').length).toBe(columns)
  expect(lines).toContain('- **eve, its own**: it did not start: no.')
  expect(markdown).toContain('no second effect after a crash: no. The effect was made twice.')
  expect(markdown).toContain('2026-11-23: 2 cores (Any CPU)')
  expect(markdown).toContain('Packages: @langchain/langgraph 1.7.3.')
})
