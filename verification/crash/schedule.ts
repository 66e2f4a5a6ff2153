import type { Random } from '../simulation/random.ts'
import type { Checkpoint } from './checkpoints.ts'

/** Where the next server is to die. */
export interface Schedule {
  /** The point that had its turn least often; undefined for a kill anywhere. */
  next(): Checkpoint | undefined
  /** Servers died; `meant` is the point where one was to. */
  note(deaths: readonly string[], meant: Checkpoint | undefined): void
  /** True while some point has neither been died at nor missed too often. */
  readonly isWaiting: boolean
}

/** To one kill elsewhere, where it is decided what becomes of an attempt: an outcome is unclear only when a server dies just there. */
const WEIGHTS: Record<string, number> = {
  'execute.started': 10,
  'execute.before_send': 10,
  'execute.answered': 8,
  'settle.before_store': 8,
  'settle.storing': 4,
}
/** Of so many kills one is anywhere. */
const ANYWHERE_EVERY = 7
/** A point that was missed so often is given up. */
const GIVE_UP = 8

export function openSchedule(points: readonly Checkpoint[], random: Random): Schedule {
  const turns = new Map<Checkpoint | undefined, number>()
  const died = new Set<string>()
  const missed = new Map<string, number>()
  const weights = new Map<Checkpoint | undefined, number>(points.map((point) => [point, WEIGHTS[point.name] ?? 1]))
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  weights.set(undefined, total / (ANYWHERE_EVERY - 1))

  const isLost = ({ name }: Checkpoint) => (missed.get(name) ?? 0) >= GIVE_UP && !died.has(name)

  return {
    next() {
      const due = (point: Checkpoint | undefined) => {
        const taken = turns.get(point) ?? 0
        // Everyone has a first turn before anyone has a second.
        return taken === 0 ? random.next() - 1 : (taken + random.next()) / (weights.get(point) ?? 1)
      }
      const [first] = [...weights.keys()]
        .filter((point) => point === undefined || !isLost(point))
        .map((point) => ({ point, due: due(point) }))
        .sort((a, b) => a.due - b.due)
      turns.set(first?.point, (turns.get(first?.point) ?? 0) + 1)
      return first?.point
    },
    note(deaths, meant) {
      for (const name of deaths) died.add(name)
      if (!meant || deaths.includes(meant.name)) return
      missed.set(meant.name, (missed.get(meant.name) ?? 0) + 1)
      // A turn that came to nothing is half a turn.
      turns.set(meant, (turns.get(meant) ?? 1) - 0.5)
    },
    get isWaiting() {
      return points.some((point) => !died.has(point.name) && !isLost(point))
    },
  }
}
