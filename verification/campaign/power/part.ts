import { rmSync } from 'node:fs'
import { seededRandom } from '../../simulation/random.ts'
import { whyNoShim } from '../disk/disk-shim.ts'
import type { Part } from '../part.ts'
import { type CutReport, cutPower } from './cut-power.ts'
import { makeRecordFolder, recordLife } from './record-life.ts'

/** Images in a whole run, and from one recording. */
const IMAGES = 6_000
const IMAGES_PER_RECORDING = 750
const ACTIONS = 6
/** How many images have to have met each thing; a tenth of that where the time was limited. */
const LEAST = 100
/** Which sync of the log fails first: from the last ones of a start to the middle of the work. */
const FAILING = { from: 26, span: 14 }

/** Cuts the power of a recorded disk at thousands of moments. SQLite only: what Postgres makes of its disk is its own affair. */
export const powerPart: Part = async ({ seed, minutes, say }) => {
  const why = whyNoShim()
  if (why !== undefined) return { violations: [], missing: [`power was not cut: ${why}`], figures: {} }
  const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  const violations: string[] = []
  const met: Partial<CutReport['met']> & { 'a sync had failed before': number } = { 'a sync had failed before': 0 }
  let images = 0
  for (let number = 1; images < IMAGES && Date.now() < endsAt; number++) {
    const recordingSeed = seed * 100 + number
    const folder = makeRecordFolder()
    try {
      // Every third disk had failed to write something before: the servers after it must not build on that.
      const nth = FAILING.from + seededRandom(recordingSeed).int(FAILING.span)
      const fails = number % 3 === 0
      const recording = await recordLife({
        folder,
        actions: ACTIONS,
        ...(fails && { fault: { call: 'sync', error: 'EIO', nth, count: 0, file: '-wal' } }),
      })
      const report = await cutPower({ recording, seed: recordingSeed, images: Math.min(IMAGES_PER_RECORDING, IMAGES - images), endsAt })
      images += report.images
      violations.push(...report.violations)
      for (const name of Object.keys(report.met) as (keyof CutReport['met'])[]) met[name] = (met[name] ?? 0) + report.met[name]
      const hasFailed = recording.calls.some(({ kind }) => kind === 'sync failed')
      if (hasFailed) met['a sync had failed before'] += report.images
      say(`power: ${images} images, ${violations.length} violations${hasFailed ? '; this disk had failed before' : ''}`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const least = minutes === undefined ? LEAST : LEAST / 10
  const missing = Object.entries(met).flatMap(([name, count]) => (count < least ? [`${name}: ${count} images, ${least} are needed`] : []))
  return { violations, missing, figures: { images, met } }
}
