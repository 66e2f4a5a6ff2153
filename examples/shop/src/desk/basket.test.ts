import { expect, test } from 'vitest'
import { readBasket } from './basket.ts'

const catalogue = [
  { id: 'mug', name: 'Stoneware mug', priceCents: 1450, stock: 24 },
  { id: 'notebook', name: 'Dotted notebook', priceCents: 1290, stock: 40 },
  { id: 'pen', name: 'Gel pen', priceCents: 320, stock: 120 },
  { id: 'bottle', name: 'Steel water bottle', priceCents: 2690, stock: 9 },
  { id: 'lamp', name: 'Desk lamp', priceCents: 7900, stock: 3 },
]

const wishes: [message: string, items: Record<string, number>, person?: string, email?: string][] = [
  ['check out two mugs', { mug: 2 }],
  ['check out two mugs (for Ada, ada@example.com)', { mug: 2 }, 'Ada', 'ada@example.com'],
  ['Check out two mugs for Ada Lovelace, ada@example.com', { mug: 2 }, 'Ada Lovelace', 'ada@example.com'],
  ['checkout 2 mugs for ada <ada@example.com>', { mug: 2 }, 'Ada', 'ada@example.com'],
  ['buy a mug and a pen for Grace', { mug: 1, pen: 1 }, 'Grace'],
  ['order 3 x notebook, 2x mug', { notebook: 3, mug: 2 }],
  ['buy mug × 2 please', { mug: 2 }],
  ['I would like a couple of pens', { pen: 2 }],
  ['buy a dozen pens', { pen: 12 }],
  ['buy two dozen pens', { pen: 24 }],
  ['buy half a dozen pens', { pen: 6 }],
  ['buy fifteen pens', { pen: 15 }],
  ['buy twenty five pens', { pen: 25 }],
  ['place an order for two mugs and a desk lamp for Ana', { mug: 2, lamp: 1 }, 'Ana'],
  ['place an order for mugs', { mug: 1 }],
  ['can you check out one steel water bottle for me?', { bottle: 1 }],
  ['Order for Ada: two mugs', { mug: 2 }, 'Ada'],
  ['check out 2 mugs with email ada@example.com', { mug: 2 }, undefined, 'ada@example.com'],
]

test.each(wishes)('“%s” is read', (message, items, person, email) => {
  const basket = readBasket(message, catalogue)
  expect(Object.fromEntries(basket.items.map(({ product, quantity }) => [product.id, quantity]))).toEqual(items)
  expect(basket).toMatchObject({ unknown: [], ambiguous: [] })
  expect([basket.customerName, basket.customerEmail]).toEqual([person, email])
})

test.each([
  ['check out two unicorns', 'two unicorns'],
  ['check out a mug and a unicorn', 'a unicorn'],
  ['check out -2 mugs', '-2 mugs'],
  ['check out 0 mugs', '0 mugs'],
  ['check out 1.5 mugs', '1 5 mugs'],
  ['check out 2 3 4 mugs', '2 3 4 mugs'],
])('“%s” is not guessed', (message, unknown) => {
  expect(readBasket(message, catalogue).unknown).toEqual([unknown])
})

test('a word that fits two products is asked about', () => {
  const two = [...catalogue, { id: 'travel-mug', name: 'Travel mug', priceCents: 1900, stock: 3 }]
  expect(readBasket('buy a mug', two)).toMatchObject({ items: [], ambiguous: [{ words: 'mug' }] })
  expect(readBasket('buy a travel mug', two).items).toMatchObject([{ product: { id: 'travel-mug' }, quantity: 1 }])
})
