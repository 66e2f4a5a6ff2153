import type { PolicyDocument } from '@countersign/core'
import type { ExecutionLimits } from '../../packages/server/src/engine.ts'
import type { Answering } from './model.ts'
import type { Random } from './random.ts'
import type { CommitFate } from './shared-store.ts'
import type { Fate, Telling } from './target.ts'

/** How a world is and what goes wrong in it. Drawn per seed, so that some worlds know one trouble only, and much of it. */
export interface Weather {
  /** Processes on the database: 1 on the embedded one, more on a shared one. */
  readonly processes: number
  /** Sessions in the world. */
  readonly sessions: number
  /** How long a commit takes at most: on a slow disk many transactions share one. */
  readonly commitMs: number
  /** Chance that a process dies instead of doing what is due. */
  readonly crash: number
  /** Chance that a process dies right after a commit, before anybody hears of it. */
  readonly crashAfterCommit: number
  /** Chance that a commit is refused (a full disk, a lost connection). */
  readonly commitFails: number
  /** The fate of such a commit on a shared database. */
  readonly commitFates: Readonly<Partial<Record<CommitFate, number>>>
  /** On a shared database: the chance that the answer to a job fetch gets lost. */
  readonly fetchLost: number
  /** Chance that an answer to a person gets lost. */
  readonly answerLost: number
  /** How many processes are stopped in an orderly way and started again. */
  readonly restarts: number
  /** On a shared database: how many processes stand still for a while, and how often one loses its connections. */
  readonly pauses: number
  /** The point of the code at which processes come to a halt now and then; undefined for none. */
  readonly haltsAt: string | undefined
  /** The point of the code at which one process is killed, once; undefined for none. */
  readonly diesAt: string | undefined
  readonly cuts: number
  readonly fates: Readonly<Partial<Record<Fate, number>>>
  readonly tellings: Readonly<Partial<Record<Telling, number>>>
  /** How long a piece of a model's answer takes at most. */
  readonly pieceMs: number
  readonly executions: ExecutionLimits
  readonly answerings: Readonly<Partial<Record<Answering, number>>>
  /** How many things people do besides answering. */
  readonly ops: number
  /** Chance that somebody sees at once to what failed, or is of unknown outcome. */
  readonly eager: number
  /** Readers of each session. */
  readonly readers: number
  /** True when somebody reads the inbox. */
  readonly inbox: boolean
  /** How often readers are cut off: mean time in ms; 0 for never. */
  readonly cutEveryMs: number
  readonly policy: PolicyDocument
  /** When trouble ends. */
  readonly calmAtMs: number
}

export const MAX_PROCESSES = 3

/** Where who stands still for a while goes on with something that others may have done by then; the rarest the most often. */
const HALTS = {
  'run.before_fail': 3,
  'retry.storing': 3,
  'step.claimed': 1,
  'step.after_model': 1,
  'delta.before_store': 1,
  'execute.looked': 1,
}

export const HALTING_POINTS = Object.keys(HALTS)

export const CALM_PIECE_MS = 5
export const CALM_FATES: Weather['fates'] = { ok: 1 }
export const CALM_TELLINGS: Weather['tellings'] = { truth: 1 }
export const CALM_ANSWERINGS: Weather['answerings'] = { well: 1 }

export function drawWeather(random: Random): Weather {
  const often = (chance: number, low: number, high: number) => (random.chance(chance) ? low + random.next() * (high - low) : 0)
  return {
    processes: Number(random.weigh({ 1: 5, 2: 2, 3: 3 })),
    sessions: random.chance(0.25) ? 2 : 1,
    commitMs: random.pick([1, 2, 15]),
    crash: often(0.5, 0.002, 0.03),
    crashAfterCommit: often(0.5, 0.01, 0.1),
    commitFails: often(0.2, 0.01, 0.15),
    commitFates: { lost: 4, unanswered: 4, unknown: 1, refused: 1, [random.pick(['lost', 'unanswered', 'unknown', 'refused'])]: 6 },
    answerLost: often(0.4, 0.05, 0.3),
    restarts: random.chance(0.2) ? 1 + random.int(2) : 0,
    pauses: random.chance(0.4) ? 1 + random.int(3) : 0,
    haltsAt: random.chance(0.5) ? random.weigh(HALTS) : undefined,
    diesAt: undefined,
    cuts: random.chance(0.4) ? 1 + random.int(3) : 0,
    fates: random.chance(0.3) ? CALM_FATES : drawFates(random),
    tellings: random.chance(0.5) ? CALM_TELLINGS : { truth: 4, no_idea: 2, error: 2, silence: 1 },
    pieceMs: random.pick([5, 5, 5, 50, 300]),
    executions: random.pick([
      { perProcess: 128, perSession: 8 },
      { perProcess: 128, perSession: 1 },
      { perProcess: 1, perSession: 8 },
      { perProcess: 3, perSession: 2 },
    ]),
    answerings: random.chance(0.5) ? CALM_ANSWERINGS : { well: 8, error: 1, cut_off: 0.5, length: 0.5, ends_early: 0.5, nonsense: 1 },
    ops: random.int(9),
    eager: random.chance(0.4) ? 0.7 : 0.1,
    readers: Number(random.weigh({ 0: 4, 1: 4, 2: 1, 3: 1 })),
    inbox: random.chance(0.2),
    cutEveryMs: random.chance(0.7) ? 60 + random.next() * 600 : 0,
    policy: drawPolicy(random),
    calmAtMs: 1_000 + random.next() * 3_000,
    fetchLost: often(0.4, 0.02, 0.3),
  }
}

/** Every world has its own favourite misfortune. */
function drawFates(random: Random): Weather['fates'] {
  const fates: Partial<Record<Fate, number>> = {
    ok: 6,
    refused: 1,
    unreachable: 0.5,
    answer_lost: 0.7,
    request_lost: 0.5,
    slow: 0.7,
    late: 0.5,
    deaf: 0.4,
    broken_before: 0.4,
    broken_after: 0.4,
  }
  const favourite = random.pick(Object.keys(fates) as Fate[])
  return { ...fates, [favourite]: 5 }
}

/** In some worlds people have a second to decide, in some they are reminded before. */
function drawPolicy(random: Random): PolicyDocument {
  const time = random.pick([{}, { expires: 'PT1S' }, { expires: 'PT1.5S', remind: 'PT1S' }, { remind: 'PT1S' }])
  return {
    default: 'ask',
    rules: [
      { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
      { name: 'writes ask', match: { effect: 'write' }, verdict: 'ask', ...time },
      { name: 'never wipe', match: { tool: 'shop.wipe' }, verdict: 'deny' },
    ],
  }
}
