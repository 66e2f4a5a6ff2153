import { SYSTEM } from '../../../packages/server/src/audit/index.ts'

/** An answer of the server to something that was tried. */
export interface Tried {
  attacker: string
  method: string
  path: string
  status: number
  /** The principal whose valid key came with the request; undefined when no principal was recognised. */
  principalId?: string | undefined
  /** True where a key came with it that is nobody's: then it was refused before anything else was looked at. */
  hasWrongKey?: boolean
  /** True where what was tried is within the sender's rights, and so may succeed. */
  mayPass?: boolean
}

/** How often the record says that somebody was refused: by the id of who it was, and for sign-ins. */
export interface RefusalCounts {
  byActor: ReadonlyMap<string, number>
  signIns: number
}

/** All that was tried, and what the record has to say of it. */
export interface Ledger {
  /** How often each attacker reached the server. */
  readonly reached: Readonly<Record<string, number>>
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Attempts that succeeded and should not have; attackers add the secrets they obtained. */
  readonly violations: string[]
  readonly refusals: RefusalCounts
  note(tried: Tried): void
}

/** Refused because of who asked: each of them has to be in the record. */
const REFUSALS = [401, 403, 404]

const READS = ['GET', 'HEAD', 'OPTIONS']

export function createLedger(): Ledger {
  const reached: Record<string, number> = {}
  const statuses: Record<number, number> = {}
  const violations: string[] = []
  const byActor = new Map<string, number>()
  let signIns = 0
  return {
    reached,
    statuses,
    violations,
    get refusals() {
      return { byActor, signIns }
    },
    note({ attacker, method, path, status, principalId, hasWrongKey = false, mayPass = false }) {
      reached[attacker] = (reached[attacker] ?? 0) + 1
      statuses[status] = (statuses[status] ?? 0) + 1
      if (READS.includes(method)) return
      if (!(status >= 400 && status < 500) && !mayPass) violations.push(`${attacker}: ${method} ${path} was answered ${status}`)
      if (!REFUSALS.includes(status)) return
      if (path === '/api/sign-in' && status === 401 && !hasWrongKey) signIns++
      else {
        const actor = (status === 401 ? undefined : principalId) ?? SYSTEM
        byActor.set(actor, (byActor.get(actor) ?? 0) + 1)
      }
    },
  }
}

/** Sentences about refusals that the record does not have, or has too often. */
export function compareRefusals(expected: RefusalCounts, found: RefusalCounts): string[] {
  const problems: string[] = []
  for (const actor of new Set([...expected.byActor.keys(), ...found.byActor.keys()])) {
    const [was, is] = [expected.byActor.get(actor) ?? 0, found.byActor.get(actor) ?? 0]
    if (was !== is) problems.push(`${actor} was refused ${was} times, and the record says ${is}`)
  }
  if (expected.signIns !== found.signIns) problems.push(`${expected.signIns} sign-ins were refused, and the record says ${found.signIns}`)
  return problems
}
