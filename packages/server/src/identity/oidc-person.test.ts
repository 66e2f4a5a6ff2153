import { ChangePersonBody } from '@countersign/core'
import { expect, test } from 'vitest'
import { personFrom } from './oidc-person.ts'

const read = (groups: unknown, roles: Record<string, string[]> = {}) =>
  personFrom(
    'prn_x',
    { sub: '1', name: 'Ana', groups },
    {
      ...{ clientId: 'x', clientSecret: undefined, scopes: 'openid', groupsClaim: 'groups' },
      ...{ roles, everyone: ['staff'] },
    },
  )

const DN = 'CN=Countersign-Approvers,OU=Security Groups,OU=Groups,DC=corp,DC=example,DC=com'
const many = Array.from({ length: 230 }, (_, at) => `g${String(at).padStart(3, '0')}`)

test('a group that the configuration maps gives its roles, however long its name is', () => {
  const { person, leftOut } = read([DN, 'finance'], { [DN]: ['approver'] })
  expect(person.roles).toEqual(['approver', 'finance', 'staff'])
  expect(leftOut, 'it gave roles').toEqual([])
  expect(read([DN]).leftOut).toEqual([DN])
})

test('a group that the configuration maps gives its roles wherever it stands among very many', () => {
  const roles = { 'cs-approvers': ['approver'] }
  const [first, last] = [read(['cs-approvers', ...many], roles), read([...many, 'cs-approvers'], roles)]
  expect(first).toEqual(last)
  expect(first.person.roles).toContain('approver')
})

test('of more than 200 groups the same ones are roles, in whatever order the service lists them, and the others are named', () => {
  const { person, leftOut } = read(many)
  expect(read(many.toReversed())).toEqual({ person, leftOut })
  expect(person.roles).toEqual([...many.slice(0, 200), 'staff'])
  expect(leftOut).toEqual(many.slice(200))
  expect(read([...many, ...many])).toEqual({ person, leftOut })
})

test('a built-in role is given by no group of its name, and a claim that is no list of texts gives none', () => {
  expect(read(['admin', 'agent', 'finance'])).toMatchObject({ person: { roles: ['finance', 'staff'] }, leftOut: [] })
  expect(read('finance').person.roles).toEqual(['finance', 'staff'])
  for (const nothing of [undefined, null, 7, [7, null, {}], '', ['']]) {
    expect(read(nothing)).toMatchObject({ person: { roles: ['staff'] }, leftOut: [] })
  }
})

test('an admin can change somebody with as many roles as a sign-in service can give', () => {
  const { person } = read(many, { g229: ['approver', 'viewer'] })
  expect(person.roles).toHaveLength(203)
  expect(ChangePersonBody.safeParse({ roles: [...person.roles, 'legal'], was: person.roles }).success).toBe(true)
})
