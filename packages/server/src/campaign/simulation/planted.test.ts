import { expect, test } from 'vitest'
import { PLANTED_BUGS } from './planted.ts'
import { runSimulation } from './run.ts'

/** Those that the first worlds show. The campaign plants all of them. */
const SOON = [
  'the second of two deciders wins as well',
  'an approval wakes nobody',
  'what may have happened is called a failure',
  'a tool is called before the intent is stored',
  'nobody takes over what a dead process was carrying out',
  'a reader loses what is committed while it reads',
]

test('every planted bug breaks a promise that has a name, and has a name of its own', () => {
  expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length)
  for (const { breaks } of PLANTED_BUGS) expect(breaks.length).toBeGreaterThan(0)
  expect(PLANTED_BUGS.map(({ name }) => name)).toEqual(expect.arrayContaining(SOON))
})

test.for(PLANTED_BUGS.filter(({ name }) => SOON.includes(name)))(
  'the simulation notices when $name',
  async ({ breaks, patches, within }) => {
    const { violations } = await runSimulation({ patches, seeds: within, stopsAtViolation: true })
    const texts = violations.flatMap((world) => world.texts)
    expect(texts.filter((text) => breaks.some((name) => text.startsWith(name)))).not.toEqual([])
  },
)
