import { ACTION_EVENTS, ACTION_STATES, AFTER } from '@countersign/core'
import { FATES } from './target.ts'
import { HALTING_POINTS } from './weather.ts'

/** Every way from state to state that the lifecycle knows and this version goes. */
const MOVES = ACTION_STATES.flatMap((from) =>
  ACTION_EVENTS.map((event) => ({ from, event, to: AFTER[from][event] }))
    // Asking anew is rare here, where no target is read again: it takes a grant that ends in the very moment.
    .filter(({ event, to }) => event !== 'revise' && to !== 'no' && to !== 'same')
    .map(({ from, to }) => `moved: ${from} → ${to}`),
)

/** Events that have to happen often enough for the results to mean something. */
const SOMETIMES = [
  ...new Set(MOVES),
  ...ACTION_STATES.filter((state) => state !== 'executing').map((state) => `ended: ${state}`),
  ...FATES.map((fate) => `sent: ${fate}`),
  ...['well', 'error', 'cut_off', 'length', 'ends_early', 'nonsense'].map((manner) => `model: ${manner}`),
  ...['truth', 'no_idea', 'error', 'silence'].map((telling) => `asked: ${telling}`),
  ...['ok', 'refused', 'ambiguous', 'late', 'vanishes', 'never_begins'].map((ending) => `client: ${ending}`),
  ...['session', 'decided', 'lost', 'request', 'claimed', 'done', 'refused'].map((kind) => `answer: ${kind}`),
  ...['lost', 'refused', 'unanswered', 'unknown'].map((fate) => `commit: ${fate}`),
  ...['approved', 'declined', 'expired'].map((to) => `within 5 ms of the deadline: ${to}`),
  'crash',
  'crash: after a commit',
  'stood still',
  ...HALTING_POINTS.map((point) => `halted: ${point}`),
  'connections cut',
  'fetch: answer lost',
  'fetch: stalled',
  'stopped in an orderly way',
  'world: alone',
  'world: shared',
  'restored: newer commits are known',
  'restored: started held',
  'restored: accepted',
  'found: done',
  'found: not done',
  'given what was read before',
  'moved: executing → executing',
  'taken over: from another',
  'told that its time was over',
  'reader: cut',
  'reader: slow',
  'request: answer lost',
  'request: not answered',
  'request: failed',
  // An answer of a process that was taken over comes too late, and writes nothing.
  'log: action.stale_answer',
  'log: action.store_failed',
  'log: jobs.fetch_lost',
  'log: process.gone',
  'log: process.frozen',
  'log: process.rejoined',
]

const TIMES_PER_50_000_WORLDS = 100

/** Returns a sentence for each event that happened too rarely in that many worlds. */
export function missingFrom(counts: ReadonlyMap<string, number>, worlds: number): string[] {
  const wanted = Math.ceil((TIMES_PER_50_000_WORLDS * worlds) / 50_000)
  return SOMETIMES.filter((name) => (counts.get(name) ?? 0) < wanted).map(
    (name) => `"${name}" happened ${counts.get(name) ?? 0} times in ${worlds} worlds; ${wanted} are wanted`,
  )
}
