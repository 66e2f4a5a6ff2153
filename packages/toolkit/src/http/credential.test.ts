import { expect, test } from 'vitest'
import { defineTool } from '../define.ts'
import { openTools } from '../open-tools.ts'
import { credentialOf, NO_CREDENTIAL } from './credential.ts'

test('a credential is known by its names and a hash: equal for equal values, another for another value, never the value', () => {
  const identity = credentialOf({ 'X-Tenant': 'seven', authorization: 'Bearer planted-secret' })
  expect(identity).toMatch(/^authorization\+x-tenant:[0-9a-f]{32}$/)
  expect(credentialOf({ Authorization: 'Bearer planted-secret', 'x-tenant': 'seven' })).toBe(identity)
  expect(credentialOf({ authorization: 'Bearer another-secret', 'x-tenant': 'seven' })).not.toBe(identity)
  expect(credentialOf({ authorization: 'Bearer planted-secret' })).not.toBe(identity)
  expect(identity).not.toMatch(/planted|seven/)
  expect(credentialOf({})).toBe(NO_CREDENTIAL)
})

test('every tool has the identity of what it signs in with', () => {
  const coded = (name: string, credentials?: Record<string, string>) =>
    defineTool({
      name,
      description: name,
      input: { type: 'object' },
      effect: 'write',
      execute: () => null,
      ...(credentials && { credentials }),
    })
  const routes = (headers: Record<string, string>) => ({
    baseUrl: 'http://127.0.0.1:4400',
    headers,
    tools: {
      pay: { method: 'POST' as const, path: '/pay' },
      payHere: { method: 'POST' as const, path: '/pay', executor: 'client' as const },
    },
  })
  const tools = openTools({
    shop: { prefix: true, routes: routes({ authorization: 'Bearer one' }) },
    open: { prefix: true, routes: routes({}) },
    code: { prefix: true, tools: [coded('plain'), coded('paid', { token: 'two' })] },
  })
  expect(tools.all().map(({ name, credential }) => [name, credential.replace(/:.*/, '')])).toEqual([
    ['shop.pay', 'authorization'],
    ['shop.payHere', 'none'],
    ['open.pay', 'none'],
    ['open.payHere', 'none'],
    ['code.plain', 'none'],
    ['code.paid', 'token'],
  ])
})
