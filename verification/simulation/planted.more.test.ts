import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutateSources } from './mutate.ts'
import { findNotice } from './notice.ts'
import { PLANTED_BUGS } from './planted.ts'

/** Some of them, and a world shortly before the one that shows each today. The campaign plants all of them, in all worlds. */
const SOON: Readonly<Record<string, number>> = {
  'the second of two deciders wins as well': 715,
  'an approval wakes nobody': 1,
  'what may have happened is called a failure': 1,
  'a tool is called before the intent is stored': 1,
  'nobody takes over what a dead process was carrying out': 1,
  'a reader loses what is committed while it reads': 6,
  'a database that was put back to an earlier moment is not held': 13,
}

test('every planted bug breaks a promise that has a name, and has a name of its own', () => {
  expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length)
  for (const { breaks } of PLANTED_BUGS) expect(breaks.length).toBeGreaterThan(0)
  expect(PLANTED_BUGS.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(SOON)))
})

test('every planted bug names code that is there, and changes it', () => {
  for (const { name, mutants } of PLANTED_BUGS) {
    for (const [url, text] of Object.entries(mutateSources(mutants))) expect(text, name).not.toBe(readFileSync(new URL(url), 'utf8'))
  }
})

test.for(PLANTED_BUGS.filter(({ name }) => name in SOON))('the simulation notices when $name', async (bug) => {
  expect(await findNotice(bug, SOON[bug.name] ?? 1, 1)).toBeDefined()
})
