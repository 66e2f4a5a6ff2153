import type { Client } from '@countersign/client'
import { expect, test } from 'vitest'
import { personIdOf } from './offered-people.ts'

/** A client of a server that has these people, and finds them by a part of their id or name. */
const clientOf = (...people: readonly { id: string; name: string }[]) =>
  ({
    people: { list: async ({ q = '' }) => ({ items: people.filter(({ id, name }) => id.includes(q) || name.includes(q)) }) },
  }) as unknown as Client

const ANA = { id: 'prn_0a1b_ana', name: 'Ana' }

test('an id stays the id of its person, also where it is the name of another', async () => {
  const mallory = { id: 'prn_9999_mallory', name: ANA.id }
  expect(await personIdOf(clientOf(mallory, ANA), ANA.id)).toBe(ANA.id)
  // The server refuses an id that nobody has.
  expect(await personIdOf(clientOf(mallory), ANA.id)).toBe(ANA.id)
})

test('a name stands for the id of the only person who has it', async () => {
  const [other, longer] = [
    { id: 'prn_2', name: 'Ana' },
    { id: 'prn_3', name: 'Ana Lima' },
  ]
  expect(await personIdOf(clientOf(ANA, longer), 'Ana')).toBe(ANA.id)
  await expect(personIdOf(clientOf(ANA, other), 'Ana')).rejects.toThrow('2 people named Ana')
  expect(await personIdOf(clientOf(ANA), 'Bo')).toBe('Bo')
})
