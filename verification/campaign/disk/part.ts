import { type Random, seededRandom } from '../../simulation/random.ts'
import type { Part } from '../part.ts'
import { type DiskFault, whyNoShim } from './disk-shim.ts'
import { prepareFolder } from './run-fault.ts'

/** Runs in a whole campaign; how many of each class have to have met their fault, and with a limited time. */
const RUNS = 160
const LEAST = 8
const LEAST_IN_A_HURRY = 1

interface FaultClass extends Pick<DiskFault, 'call' | 'error' | 'file'> {
  /** The latest call that fails first: behind it a run makes no more of them. */
  last: number
}

const CLASSES: readonly FaultClass[] = [
  { call: 'sync', error: 'EIO', file: '-wal', last: 14 },
  { call: 'sync', error: 'ENOSPC', file: '-wal', last: 14 },
  { call: 'write', error: 'EIO', file: '-wal', last: 150 },
  { call: 'write', error: 'ENOSPC', file: '-wal', last: 150 },
  { call: 'write', error: 'SHORT', file: '-wal', last: 150 },
  { call: 'sync', error: 'EIO', file: '.db', last: 1 },
  { call: 'write', error: 'EIO', file: '.db', last: 20 },
  { call: 'write', error: 'ENOSPC', file: '.db', last: 20 },
  { call: 'write', error: 'SHORT', file: '.db', last: 20 },
  { call: 'truncate', error: 'EIO', file: '-shm', last: 1 },
]

const nameOf = ({ call, error, file }: FaultClass): string => `${call} ${error} ${file}`

/** Servers on disks that fail. SQLite only: what Postgres makes of its disk is its own affair; a full one is in `acceptance/full-disk`. */
export const diskPart: Part = async ({ seed, minutes, say }) => {
  const why = whyNoShim()
  if (why !== undefined) return { violations: [], missing: [`no disk failed: ${why}`], figures: {} }
  const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  const random = seededRandom(seed)
  const violations: string[] = []
  const classes = new Map(
    CLASSES.map((each) => [nameOf(each), { runs: 0, met: 0, calls: 0, 'did not start': 0, answers: {} as Record<number, number> }]),
  )
  await using folder = await prepareFolder()
  for (let run = 0; run < RUNS && Date.now() < endsAt; run++) {
    const chosen = CLASSES[run % CLASSES.length] as FaultClass
    const fault = draw(chosen, random)
    const { hits, hasStarted, answers, problems } = await folder.run(fault)
    const counts = classes.get(nameOf(chosen))
    if (counts) {
      counts.runs++
      counts.met += Number(hits > 0)
      counts.calls += hits
      counts['did not start'] += Number(!hasStarted)
      for (const [status, count] of Object.entries(answers)) counts.answers[Number(status)] = (counts.answers[Number(status)] ?? 0) + count
    }
    for (const problem of problems) violations.push(`seed ${seed}, run ${run + 1}, ${JSON.stringify(fault)}: ${problem}`)
    say(`disk: run ${run + 1}, ${nameOf(chosen)} from call ${fault.nth}: failed ${hits} times, ${problems.length} violations`)
  }
  const least = minutes === undefined ? LEAST : LEAST_IN_A_HURRY
  const missing = [...classes].flatMap(([name, { met }]) => (met < least ? [`${name}: met in ${met} runs, ${least} are needed`] : []))
  return { violations, missing, figures: Object.fromEntries(classes) }
}

const draw = ({ call, error, file, last }: FaultClass, random: Random): DiskFault => ({
  ...{ call, error, file },
  nth: 1 + random.int(last),
  count: random.pick([0, 1, 3]),
})
