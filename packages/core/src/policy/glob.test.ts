import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { matchesGlob } from './glob.ts'

describe('a glob', () => {
  test('is exact but for its stars', () => {
    const yes = [
      ['', ''],
      ['*', ''],
      ['*', 'x'],
      ['**', ''],
      ['a*', 'a'],
      ['a*b*c', 'abc'],
      ['a*b*c', 'a.b.b.c'],
      ['*.*', 'a.b'],
      ['a*a', 'aa'],
      ['[a]?', '[a]?'],
      ['a.b', 'a.b'],
    ]
    const no = [
      ['', 'x'],
      ['a', 'A'],
      ['a*', 'ba'],
      ['*a', 'ab'],
      ['a*a', 'a'],
      ['ab*ba', 'aba'],
      ['a.b', 'axb'],
      ['a?', 'ab'],
      ['[ab]', 'a'],
      ['a*b*c', 'acb'],
      ['a', 'a\n'],
    ]
    for (const [glob = '', name = ''] of yes) expect([glob, name, matchesGlob(glob, name)]).toEqual([glob, name, true])
    for (const [glob = '', name = ''] of no) expect([glob, name, matchesGlob(glob, name)]).toEqual([glob, name, false])
  })

  // The textbook way: the places in the glob that the name read so far can have reached.
  const byPlaces = (glob: string, name: string): boolean => {
    const withStarsSkipped = (places: Set<number>): Set<number> => {
      for (const place of places) if (glob[place] === '*') places.add(place + 1)
      return places
    }
    let places = withStarsSkipped(new Set([0]))
    for (const letter of name) {
      const next = [...places].flatMap((place) => (glob[place] === '*' ? [place] : glob[place] === letter ? [place + 1] : []))
      places = withStarsSkipped(new Set(next))
    }
    return places.has(glob.length)
  }

  test('agrees with the textbook matcher', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab*]{0,10}$/), fc.stringMatching(/^[ab]{0,12}$/), (glob, name) => {
        expect(matchesGlob(glob, name)).toBe(byPlaces(glob, name))
      }),
      { numRuns: 5_000 },
    )
  })

  test('made to explode a backtracking matcher is answered at once', () => {
    const startedAt = cpuTimeMs()
    expect(matchesGlob(`${'a*'.repeat(5_000)}b`, 'a'.repeat(100_000))).toBe(false)
    expect(matchesGlob(`${'*a'.repeat(50)}*b`, 'a'.repeat(100_000))).toBe(false)
    expect(cpuTimeMs() - startedAt).toBeLessThan(1_000)
  })
})
