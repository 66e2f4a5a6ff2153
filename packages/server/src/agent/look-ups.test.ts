import type { LookUp } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assistantPayload, boundLookUps, MAX_LOOK_UP_CHARACTERS, MAX_LOOK_UPS } from './look-ups.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 9_000, maxLength: 9_100, unit: fc.constantFrom('x', '🙂', '"') }),
)
const value = fc.oneof(fc.jsonValue(), text, fc.record({ deep: text })) as fc.Arbitrary<LookUp['input']>
const lookUp = fc.record({ id: text, name: text, input: value, output: value, error: text }, { requiredKeys: ['id', 'name', 'input'] })

test('whatever a brain looked up, what is kept of it is small, and what fits stays as it is', () => {
  fc.assert(
    fc.property(fc.array(lookUp, { maxLength: 40 }), (lookUps) => {
      const { lookUps: kept = [], lookUpsLeftOut = 0 } = boundLookUps(lookUps)
      expect(kept.length + lookUpsLeftOut).toBe(lookUps.length)
      expect(kept.length).toBeLessThanOrEqual(MAX_LOOK_UPS)
      for (const [index, one] of kept.entries()) {
        const whole = lookUps[index]
        for (const part of [one.input, one.output ?? '', one.error ?? '']) {
          const size = typeof part === 'string' ? part.length : JSON.stringify(part).length
          expect(size).toBeLessThanOrEqual(MAX_LOOK_UP_CHARACTERS)
        }
        expect(Math.max(one.id.length, one.name.length)).toBeLessThanOrEqual(200)
        expect(Object.keys(one).filter((key) => key !== 'cut')).toEqual(Object.keys(whole ?? {}))
        const { input, output, error } = one
        if (!one.cut) expect({ input, output, error }).toEqual({ input: whole?.input, output: whole?.output, error: whole?.error })
      }
    }),
    { seed: 12, numRuns: 200 },
  )
})

test('of more than 32 look-ups the first 32 are kept, and how many are left out', () => {
  const many = Array.from({ length: MAX_LOOK_UPS + 8 }, (_, at) => ({ id: `${at}`, name: 'find', input: {} }))
  expect(boundLookUps(many)).toEqual({ lookUps: many.slice(0, MAX_LOOK_UPS), lookUpsLeftOut: 8 })
})

test('look-ups are stored beside what the provider wants back, and change nothing where there are none', () => {
  const lookUps = [{ id: 'a', name: 'n', input: {} }]
  expect(assistantPayload('{"callIds":["c"]}', {})).toBe('{"callIds":["c"]}')
  expect(assistantPayload(undefined, {})).toBeNull()
  expect(JSON.parse(assistantPayload('{"callIds":["c"]}', { lookUps, lookUpsLeftOut: 2 }) ?? '')).toEqual({
    callIds: ['c'],
    lookUps,
    lookUpsLeftOut: 2,
  })
})
