import { seededRandom } from '../../simulation/random.ts'
import { openTempSqlite } from '../../testing/temp-store.ts'
import { CHANGES, type Change, ENDS, HARMLESS } from './changes.ts'
import { openFootings } from './footings.ts'

/** Under way at a time, so that they share commits. */
const WORKERS = 64
/** Of so many, one is not changed in anything that matters. */
const HARMLESS_EVERY = 20
/** How what was changed may end: asked again, failed before anything was sent, or declined by what policy says now. */
const REFUSED = ['proposed', 'failed', 'declined']

export interface MutationReport {
  changed: number
  harmless: number
  /** How often each was changed. */
  byChange: Record<string, number>
  /** How what was changed ended. */
  endings: Record<string, number>
  violations: string[]
}

/** Changes one field between decision and start, so often: nothing may be sent, and what did not change what is done has to be. */
export async function runMutations({
  mutations,
  seed,
  endsAt,
}: {
  mutations: number
  seed: number
  endsAt: number
}): Promise<MutationReport> {
  await using temp = await openTempSqlite()
  const footings = await openFootings(temp.store)
  const random = seededRandom(seed)
  const report: MutationReport = { changed: 0, harmless: 0, byChange: {}, endings: {}, violations: [] }
  const kinds = Object.entries(CHANGES)
  let taken = 0

  async function startOne(n: number, name: string, change: Change, isHarmless: boolean): Promise<void> {
    const footing = footings.take(n)
    change(footing, random)
    const { sent, row } = await footings.start(footing)
    if (isHarmless) {
      report.harmless++
      if (sent !== 1 || row.state !== 'succeeded')
        report.violations.push(`false refusal: ${name} ended ${row.state}: ${row.revised ?? row.error}`)
      return
    }
    report.changed++
    report.byChange[name] = (report.byChange[name] ?? 0) + 1
    const ending = `${row.state} ${row.error === null ? JSON.parse(row.revised ?? '{}').why : JSON.parse(row.error).kind}`
    report.endings[ending] = (report.endings[ending] ?? 0) + 1
    if (sent !== 0 || !REFUSED.includes(row.state) || (ENDS[name] ?? ending) !== ending) {
      report.violations.push(`${name} was sent ${sent} times and ended ${ending}`)
    }
  }

  const worker = async () => {
    while (report.changed < mutations && Date.now() < endsAt) {
      const n = taken++
      const isHarmless = n % HARMLESS_EVERY === 0
      const [name, change] = isHarmless ? random.pick(Object.entries(HARMLESS)) : (kinds[n % kinds.length] ?? random.pick(kinds))
      await startOne(n, name, change, isHarmless)
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  return report
}
