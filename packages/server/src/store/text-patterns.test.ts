import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { addTextSearch } from './sqlite/text-search.ts'
import { includesText } from './tables/session-search.ts'
import { finderOf, isAscii, regexpOf } from './text-patterns.ts'

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

test('a search in SQLite finds a text letter for letter, whatever the case, and reads nothing in it as a sign', () => {
  using database = new DatabaseSync(':memory:')
  addTextSearch(database)
  const hasText = database.prepare('select countersign_has_text(?, ?) as found')
  const lower = database.prepare('select instr(lower(?), lower(?)) > 0 as found')
  fc.assert(
    fc.property(TEXT, PART, TEXT, (before, part, after) => {
      for (const whole of [before + part + after, before + after, before + part.toUpperCase() + after]) {
        expect(Boolean(hasText.get(whole, part)?.found), JSON.stringify([whole, part])).toBe(expected(whole, part))
        if (isAscii(part)) expect(Boolean(lower.get(whole, part)?.found)).toBe(expected(whole, part))
      }
    }),
    { seed: inject('propertySeed'), numRuns: 2_000 },
  )
})

test('a long text is found at every place, and in no time that grows with its length', () => {
  for (const length of [1, 31, 32, 33, 63, 64, 65, 200]) {
    const text = `${'aä'.repeat(length).slice(1 - length, length > 1 ? undefined : 0)}é`
    const find = finderOf(text)
    for (const before of ['', 'a', 'ä'.repeat(40), 'aä'.repeat(150)]) {
      expect(find(`${before}${text.toUpperCase()}x`), `${length} ${before}`).toBe(true)
      expect(find(`${before}${text.slice(0, -1)}e`), `${length} ${before}`).toBe(false)
    }
  }
  const whole = 'a'.repeat(5_000_000)
  const startedAt = cpuTimeMs()
  for (const text of [`${'a'.repeat(199)}é`, `é${'a'.repeat(199)}`]) expect(finderOf(text)(whole)).toBe(false)
  expect(cpuTimeMs() - startedAt).toBeLessThan(4_000)
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
