import { expect, test } from 'vitest'
import { applyMutant, type Change } from './code-mutants.ts'

const SOURCE = `
export function* move(row: Row, outbox: Outbox): Tx<boolean> {
  const done = yield* db.update('action').where('state', '=', row.state).where('epoch', '=', row.epoch)
  if (!done) return false
  if (row.executor === 'server') outbox.actions.add(row.id)
  checkpoint('move.done')
  return true
}
`
const mutated = (change: Change, source = SOURCE): string => applyMutant(source, { file: 'a.ts', in: 'move', ...change })

test('a call goes, whatever the local is called that it is made on', () => {
  const mutant = { do: 'remove call', call: 'actions.add' } as const
  expect(mutated(mutant)).toBe(SOURCE.replace('outbox.actions.add(row.id)', ';'))
  const renamed = SOURCE.replaceAll('outbox', 'box').replaceAll('row', 'found')
  expect(mutated(mutant, renamed)).toBe(renamed.replace('box.actions.add(found.id)', ';'))
})

test('a guard goes, and the others stay', () => {
  expect(mutated({ do: 'remove guard', column: 'epoch' })).toBe(SOURCE.replace(".where('epoch', '=', row.epoch)", ''))
  expect(mutated({ do: 'remove guard', column: 'state' })).toBe(SOURCE.replace(".where('state', '=', row.state)", ''))
})

test('a condition is found by what it reads and by what it leads to', () => {
  const changed = SOURCE.replace("row.executor === 'server'", 'false')
  expect(mutated({ do: 'set condition', reads: 'executor', to: false })).toBe(changed)
  expect(mutated({ do: 'set condition', leadsTo: 'actions.add', to: false })).toBe(changed)
})

test('a mutant that fits nothing says which', () => {
  expect(() => mutated({ do: 'remove call', call: 'actions.drop' })).toThrow('a.ts has nothing to "remove call" in move')
  expect(() => mutated({ do: 'begin with', statement: 'return' }, SOURCE.replace('move(', 'moveAll('))).toThrow(
    'a.ts has 0 functions or constants named move, not one',
  )
})
