import fc from 'fast-check'
import { expect, test } from 'vitest'
import { riskByName, wordsOf } from './risk-by-name.ts'

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
/** The ways in which sources write the words of a name. */
const STYLES: Readonly<Record<string, (words: readonly string[]) => string>> = {
  camel: ([first = '', ...rest]) => first + rest.map(capital).join(''),
  pascal: (words) => words.map(capital).join(''),
  snake: (words) => words.join('_'),
  kebab: (words) => words.join('-'),
  dots: (words) => words.join('.'),
  slashes: (words) => words.join('/'),
  loud: (words) => words.join('_').toUpperCase(),
  title: (words) => words.map(capital).join(' '),
}
const HIGH = [
  ...['ban', 'lock', 'void', 'refund', 'reject', 'expire', 'close', 'disable', 'revoke', 'drop', 'transfer', 'pay'],
  ...['delete', 'remove', 'destroy', 'purge', 'cancel', 'charge', 'purchase'],
]
/** Words that hold one of the others and mean something else. */
const HARMLESS = [
  ...[
    'update',
    'create',
    'user',
    'table',
    'reorder',
    'urban',
    'avoid',
    'blockchain',
    'unlock',
    'unlocked',
    'disclose',
    'backdrop',
    'repay',
  ],
  ...['display', 'clock', 'tasks', 'enable', 'approve', 'reopen', 'dropdown', 'banner', 'closet', 'rejection'],
]
const style = fc.constantFrom(...Object.values(STYLES))
const harmless = fc.array(fc.constantFrom(...HARMLESS), { maxLength: 3 })

test('a word of the list anywhere in a name makes a write high risk, however the name is written', () => {
  fc.assert(
    fc.property(style, harmless, fc.constantFrom(...HIGH), harmless, (write, before, word, after) => {
      const name = write([...before, word, ...after])
      expect(riskByName({ name, effect: 'write' })).toEqual({ level: 'high', reason: `its name says “${word}”`, isGuess: true })
      expect(riskByName({ name: 'call', title: name, effect: 'write' })?.reason).toBe(`its title says “${word}”`)
      expect(riskByName({ name, effect: 'read', method: 'DELETE' })).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

test('words that only hold one of the list are not it: reorder is not an order', () => {
  fc.assert(
    fc.property(style, fc.array(fc.constantFrom(...HARMLESS), { minLength: 1, maxLength: 5 }), (write, words) => {
      const name = write(words)
      expect(riskByName({ name, effect: 'write', method: 'POST', title: name })).toBeUndefined()
      expect(riskByName({ name, effect: 'write', method: 'DELETE' })).toMatchObject({ level: 'high', reason: 'it is a DELETE' })
    }),
    { numRuns: 500 },
  )
})

test('what is a thing as often as a deed counts where a deed stands', () => {
  const isHigh = (name: string) => riskByName({ name, effect: 'write' }) !== undefined
  expect(['orderBooks', 'market.order', 'block_user', 'kill-process'].filter(isHigh)).toHaveLength(4)
  expect(['updateOrderStatus', 'patch-block-children', 'shop.updateOrder', 'sortOrder'].filter(isHigh)).toEqual([])
})

test.each([
  ['dropTable', ['drop', 'table']],
  ['DROP_TABLE', ['drop', 'table']],
  ['postHTTPRequest2', ['post', 'http', 'request', '2']],
  ['API-delete-a-block', ['api', 'delete', 'a', 'block']],
  ['', []],
])('the words of %s', (name, words) => expect(wordsOf(name)).toEqual(words))
