import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { includesText } from './tables/session-search.ts'
import { globOf, isAscii, likeOf, regexpOf } from './text-patterns.ts'

/** Characters with a meaning in patterns, letters with several cases or one, and some that are more than one unit. */
const CHARACTER = fc.constantFrom(...'aAzZ09 %_*?[]^-\\.(){}|+$"\'/äÄßẞéÉωΩσΣжЖǆǅǄİıſK漢😀\u{10400}\u{10428}\n\u200d'.split(/(?:)/u))
const TEXT = fc.string({ unit: CHARACTER, maxLength: 12 })
const PART = fc.string({ unit: CHARACTER, minLength: 1, maxLength: 4 })

/** Lower-casing may change the length, or depend on the letters around, so single characters have to agree. */
const agrees = (a: string, b: string) => a === b || a.toLowerCase() === b || a.toUpperCase() === b

const expected = (whole: string, part: string): boolean => {
  const [all, wanted] = [[...whole], [...part]]
  return all.some((_, at) => wanted.every((c, i) => agrees(c, all[at + i] ?? '')))
}

test('a pattern for SQLite finds a text letter for letter, whatever the case, and reads nothing in it as a sign', () => {
  using database = new DatabaseSync(':memory:')
  const glob = database.prepare('select ? glob ? as found')
  const like = database.prepare(`select ? like ? escape '\\' as found`)
  fc.assert(
    fc.property(TEXT, PART, TEXT, (before, part, after) => {
      for (const whole of [before + part + after, before + after, before + part.toUpperCase() + after]) {
        expect(Boolean(glob.get(whole, globOf(part))?.found), JSON.stringify([whole, part])).toBe(expected(whole, part))
        if (isAscii(part)) expect(Boolean(like.get(whole, likeOf(part))?.found)).toBe(expected(whole, part))
      }
    }),
    { seed: inject('propertySeed'), numRuns: 2_000 },
  )
})

test('a pattern for Postgres finds the same, with the locale C, too', async () => {
  await using database = await openTestDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const cases = fc.sample(fc.tuple(TEXT, PART, TEXT), { seed: inject('propertySeed'), numRuns: 1_000 })
  const asked = cases.flatMap(([before, part, after]) => [before + part + after, before + after].map((whole) => ({ whole, part })))
  const { rows } = await client.query(
    'select whole collate "C" ~ pattern as found from unnest($1::text[], $2::text[]) as t (whole, pattern)',
    [asked.map(({ whole }) => whole), asked.map(({ part }) => regexpOf(part))],
  )
  await client.end()
  for (const [i, { whole, part }] of asked.entries()) expect(rows[i].found, JSON.stringify([whole, part])).toBe(expected(whole, part))
})

test('titles are compared here as messages are in the database', () => {
  expect(includesText('STRASSE Größe', 'gRÖß')).toBe(true)
  expect(includesText('100 wool', '100%')).toBe(false)
})
