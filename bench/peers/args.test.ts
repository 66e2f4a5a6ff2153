import { expect, test } from 'vitest'
import { HELP, readOptions } from './args.ts'
import { SYSTEMS } from './systems.ts'

const keysOf = (argv: string[]): string[] => readOptions(argv).systems.map(({ key }) => key)

test('without options every system takes part', () => {
  expect(keysOf([])).toEqual(SYSTEMS.map(({ key }) => key))
})

test('--only takes folders and keys, and Countersign on the same databases', () => {
  expect(keysOf(['--only', 'dbos'])).toEqual(['countersign-postgres', 'dbos-postgres'])
  expect(keysOf(['--only', 'langgraph-sqlite,floor'])).toEqual([
    'floor-sqlite',
    'floor-postgres',
    'countersign-sqlite',
    'countersign-postgres',
    'langgraph-sqlite',
  ])
})

test('an unknown system and an unknown option are refused', () => {
  expect(() => readOptions(['--only', 'langraph'])).toThrow('Unknown: langraph. Known: ')
  expect(() => readOptions(['--fast'])).toThrow('--fast')
})

test('--quick runs fewer and shorter blocks', () => {
  const [quick, full] = [readOptions(['--quick']), readOptions([])]
  expect(quick.rounds).toBeLessThan(full.rounds)
  expect(quick.blockMs).toBeLessThan(full.blockMs)
})

test('--help names every system', () => {
  expect(readOptions(['--help']).help).toBe(true)
  for (const { key } of SYSTEMS) expect(HELP).toContain(key)
})
