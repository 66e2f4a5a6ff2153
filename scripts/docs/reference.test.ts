import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { configurationSections } from './configuration.ts'
import { outsideTarget } from './outside-links.ts'
import { policyFields } from './policy.ts'
import { fieldsOf } from './schema-table.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('every field of the configuration and of a policy says what it does', async () => {
  const fields = [...(await configurationSections(ROOT)).flatMap((section) => section.fields), ...policyFields(ROOT)]
  expect(fields.length).toBeGreaterThan(150)
  expect(fields.filter(({ text }) => text === '').map(({ path }) => path)).toEqual([])
})

test('a field of one alternative only is not shown as required, and one of several alternatives is shown once', () => {
  const option = (name: string) => ({
    type: 'object',
    properties: { [name]: { type: 'string' }, kind: { const: name } },
    required: [name, 'kind'],
  })
  const fields = fieldsOf({ anyOf: [option('for'), option('until'), { type: 'null' }] }, () => new Map())
  expect(fields.map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
    ['for', 'string', false],
    ['kind', '`"for"` or `"until"`', true],
    ['until', 'string', false],
  ])
})

test.each([
  ['a page', 'policy.md', undefined],
  ['a heading', '#rules', undefined],
  ['an address', 'https://example.com', undefined],
  ['a file of the repository', '../../examples/shop', '/repo/examples/shop'],
  ['a heading of such a file', '../../README.md#start', '/repo/README.md'],
])('a link to %s is outside of docs only where it leaves them', (_name, href, target) => {
  expect(outsideTarget(href, '/repo/docs/guides/mcp.md', '/repo/docs')).toBe(target)
})
