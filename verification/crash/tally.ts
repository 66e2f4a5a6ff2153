/** The results of a campaign so far. */
export interface Tally {
  /** All servers that were killed. */
  readonly kills: number
  /** Servers died; `meant` is the point where one was to. */
  addDeaths(at: readonly string[], meant: string | undefined): void
  /** A world was settled again after its last fault. */
  addRecovery(tookMs: number): void
  addOutcomes(counts: Readonly<Record<string, number>>): void
  addViolation(sentence: string): void
  report(): TallyReport
}

export interface TallyReport {
  kills: number
  /** Kills by the point where the server died; `anywhere` for those by the clock. */
  killsAt: Record<string, number>
  /** How often no server came by the point in time. */
  missed: Record<string, number>
  outcomes: Record<string, number>
  recoveryMs: { median: number; p99: number; max: number }
  violations: string[]
}

export function openTally(): Tally {
  let kills = 0
  const killsAt: Record<string, number> = {}
  const missed: Record<string, number> = {}
  const outcomes: Record<string, number> = {}
  const tookMs: number[] = []
  const violations: string[] = []
  const add = (to: Record<string, number>, name: string, count = 1) => {
    to[name] = (to[name] ?? 0) + count
  }
  return {
    get kills() {
      return kills
    },
    addDeaths(at, meant) {
      kills += at.length
      for (const point of at) add(killsAt, point)
      if (meant !== undefined && !at.includes(meant)) add(missed, meant)
    },
    addRecovery: (ms) => void tookMs.push(ms),
    addOutcomes: (counts) => {
      for (const [name, count] of Object.entries(counts)) add(outcomes, name, count)
    },
    addViolation: (sentence) => void violations.push(sentence.slice(0, 1_500)),
    report() {
      const sorted = tookMs.toSorted((a, b) => a - b)
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
      return { kills, killsAt, missed, outcomes, recoveryMs: { median: at(0.5), p99: at(0.99), max: at(1) }, violations }
    },
  }
}
