import { expect, test } from 'vitest'
import type { McpDefinition } from './definitions.ts'
import { whatIsOther } from './pins.ts'

const DEFINITION: McpDefinition = {
  name: 'set',
  title: '',
  description: 'Sets it',
  inputSchema: { type: 'object', anyOf: [{ required: ['a'], title: 'A' }] },
  annotations: {},
  taskSupport: 'forbidden',
}

test('what a server says of a tool in another order is not shown as other', () => {
  const inputSchema = { anyOf: [{ title: 'A', required: ['a'] }], type: 'object' }
  expect(whatIsOther(DEFINITION, { ...DEFINITION, inputSchema, description: 'Sets all' })).toEqual([
    { field: 'the tool’s description', oldValue: 'Sets it', newValue: 'Sets all' },
  ])
})
