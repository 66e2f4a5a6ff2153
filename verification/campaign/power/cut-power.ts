import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../simulation/random.ts'
import { checkImage, placeImage } from './check-image.ts'
import { createDiskModel } from './disk-model.ts'
import type { Recording } from './record-life.ts'

export interface CutOptions {
  recording: Recording
  seed: number
  images: number
  /** Epoch milliseconds after which no further image is made; default: none. */
  endsAt?: number
  /** Files and folders whose syncs the code under test is taken to have forgotten. Default: none. */
  forgets?: (path: string) => boolean
  /** True ends at the first image that is not as it should be. Default false. */
  endsAtViolation?: boolean
}

/** How often what was met, in images. */
export interface CutReport {
  images: number
  violations: string[]
  met: {
    'a change was lost': number
    'a change was torn': number
    'a name was lost': number
    'nothing was lost': number
    'decisions had been answered': number
    'effects had been sent': number
    'the archive was at work': number
    'a server was starting': number
  }
}

/** Memory is a disk that is fast. */
const FAST = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
/** Of ten cuts so many are where changes wait for their sync, in the archive's time and in the first calls of a server. */
const SHARES = { risky: 6, archiving: 1, starting: 1, anywhere: 2 }
const START_CALLS = 60

/** Cuts the power at `images` moments of a recording, and looks at what the disk may hold then. */
export async function cutPower(options: CutOptions): Promise<CutReport> {
  const { recording, seed, images, endsAt = Number.POSITIVE_INFINITY, forgets, endsAtViolation = false } = options
  const { calls, witness, root } = recording
  const random = seededRandom(seed)
  const stages = stagesOf(recording)
  const moments = chooseMoments(recording, stages, seed, images)
  const model = createDiskModel({ random: seededRandom(seed + 1), ...(forgets && { forgets }) })
  const folder = mkdtempSync(join(FAST, 'countersign-image-'))
  const report: CutReport = {
    images: 0,
    violations: [],
    met: {
      'a change was lost': 0,
      'a change was torn': 0,
      'a name was lost': 0,
      'nothing was lost': 0,
      'decisions had been answered': 0,
      'effects had been sent': 0,
      'the archive was at work': 0,
      'a server was starting': 0,
    },
  }
  const { met } = report
  try {
    for (const [i, call] of calls.entries()) {
      model.take(call)
      const untilNs = calls[i + 1]?.ns
      for (let n = moments.get(i) ?? 0; n > 0 && Date.now() < endsAt && !(endsAtViolation && report.violations.length > 0); n--) {
        const image = model.cutPower(random)
        placeImage(image, root, folder)
        const { lost } = image
        const isAnswered = ({ ns }: { ns: bigint }) => untilNs === undefined || ns < untilNs
        report.images++
        met['a change was lost'] += Number(lost.changes > 0)
        met['a change was torn'] += Number(lost.torn > 0)
        met['a name was lost'] += Number(lost.names > 0)
        met['nothing was lost'] += Number(lost.changes + lost.torn + lost.names === 0)
        met['decisions had been answered'] += Number(witness.decided.some(isAnswered))
        met['effects had been sent'] += Number(witness.effects.some(isAnswered))
        met['the archive was at work'] += Number(stages.archiving.has(i))
        met['a server was starting'] += Number(stages.starting.has(i))
        const where = `seed ${seed}, image ${report.images}, behind call ${i + 1} of ${calls.length}`
        for (const problem of await checkImage(recording, folder, untilNs)) report.violations.push(`${where}: ${problem}`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return report
}

/** The calls of the archive, and the first ones of each server. */
function stagesOf({ calls, dataDir, archiveDir }: Recording): { archiving: Set<number>; starting: Set<number> } {
  const archived = calls.flatMap((call, i) => ('path' in call && call.path.startsWith(archiveDir) ? [i] : []))
  const starts = calls.flatMap((call, i) => (call.kind === 'opened' && call.path === join(dataDir, 'owner.lock') ? [i] : []))
  return {
    archiving: new Set(rangeOf(archived[0] ?? 0, (archived.at(-1) ?? -1) + 1)),
    starting: new Set(starts.flatMap((start) => rangeOf(start, Math.min(calls.length, start + START_CALLS)))),
  }
}

const rangeOf = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)

/** How many images to make behind which call. */
function chooseMoments({ calls }: Recording, stages: ReturnType<typeof stagesOf>, seed: number, images: number): Map<number, number> {
  const random = seededRandom(seed + 2)
  const probe = createDiskModel({ random })
  const risky = calls.flatMap((call, i) => {
    probe.take(call)
    return probe.isAtRisk ? [i] : []
  })
  const anywhere = rangeOf(0, calls.length)
  const choices = { risky, archiving: [...stages.archiving], starting: [...stages.starting], anywhere }
  const moments = new Map<number, number>()
  for (let n = 0; n < images; n++) {
    const choice = choices[random.weigh(SHARES)]
    const at = random.pick(choice.length > 0 ? choice : anywhere)
    moments.set(at, (moments.get(at) ?? 0) + 1)
  }
  return moments
}
