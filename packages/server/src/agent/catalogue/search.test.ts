import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { openSearch } from './search.ts'

const toolsOf = (...descriptions: string[]) =>
  openTools({
    shop: {
      prefix: false,
      tools: descriptions.map((description, i) =>
        defineTool({ name: `tool_${i}`, description, effect: 'read', input: { type: 'object' }, execute: () => '' }),
      ),
    },
  }).all()

test('a search reads a description of any shape in the time that its length takes', () => {
  // In the square of the length, this would take half an hour.
  const tools = toolsOf(`Ships an order.${' '.repeat(1_000_000)}or not`, 'Lists customers. GET /customers/{id}')
  const found = openSearch(tools).find('customers', 2)
  expect(found.map(({ description }) => description)).toEqual([tools[1]?.description])
})
