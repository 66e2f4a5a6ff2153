import type { Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import { mayDecide, requireAdmin, seesAll, whyNeverDecides } from './caller.ts'

const roles = ['admin', 'approver', 'viewer', 'finance']

test('no program decides, manages or sees everything, whatever roles it carries', () => {
  for (const kind of ['agent', 'service'] as const) {
    const program: Principal = { id: 'prn_1', kind, name: 'bot', roles }
    expect(mayDecide(program, { roles }), kind).toBe(false)
    expect(whyNeverDecides(program), kind).toContain('only persons decide')
    expect(seesAll(program), kind).toBe(false)
    expect(() => requireAdmin(program, 'changes the policy'), kind).toThrow('only an admin changes the policy')
  }
  const person: Principal = { id: 'prn_2', kind: 'person', name: 'Ana', roles }
  expect(mayDecide(person, { roles })).toBe(true)
  expect(seesAll(person)).toBe(true)
  expect(() => requireAdmin(person, 'changes the policy')).not.toThrow()
})
