import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHistogram } from './histogram.ts'

const BOUNDS = [0.001, 0.01, 0.1, 1]

test('each bucket holds what took no longer than it says, and the last one everything', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1, max: 5_000, noNaN: true })), (times) => {
      const histogram = createHistogram(BOUNDS)
      for (const ms of times) histogram.observe(ms)
      const samples = histogram.samples()
      const bucket = (le: string) => samples.find(({ labels }) => labels?.le === le)?.value
      for (const bound of BOUNDS) expect(bucket(String(bound))).toBe(times.filter((ms) => ms <= bound * 1_000).length)
      expect(bucket('+Inf')).toBe(times.length)
      expect(samples.find(({ suffix }) => suffix === '_count')?.value).toBe(times.length)
      const sum = samples.find(({ suffix }) => suffix === '_sum')?.value
      expect(sum).toBeCloseTo(times.reduce((total, ms) => total + Math.max(0, ms), 0) / 1_000, 6)
    }),
    { seed: 1, numRuns: 300 },
  )
})
