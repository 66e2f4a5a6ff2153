import { whyNoNginx } from '../../testing/nginx.ts'
import { whyNoOtherUser } from '../../testing/other-user.ts'
import type { Part, PartReport } from '../part.ts'
import { type DoorsReport, runDoors } from './run-doors.ts'

const ROUNDS = 60
const ATTACKERS = 7
/** How often each attacker has to have reached the server, and with a limited time. */
const LEAST = 200
const LEAST_IN_A_HURRY = 10

/** An agent with a shell, a second user, a dev server, nginx, a thief, a leaver and a cheating admin against a running server. */
export const doorsPart: Part = async ({ seed, minutes, database, say }): Promise<PartReport> => {
  const missing = [whyNoNginx, whyNoOtherUser].filter((why) => why !== undefined)
  const violations: string[] = []
  const runs: (Omit<DoorsReport, 'violations'> & { database: string })[] = []
  const least = minutes === undefined ? LEAST : LEAST_IN_A_HURRY
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    const options = { database: kind, seed, rounds: ROUNDS, minutes: minutes ?? Number.POSITIVE_INFINITY, hasBrowser: true }
    const { violations: found, ...run } = await runDoors({ ...options, say: (line) => say(`doors ${kind}: ${line}`) })
    violations.push(...found.map((sentence) => `${kind}: ${sentence}`))
    const rare = Object.entries(run.reached).filter(([, times]) => times < least)
    missing.push(...rare.map(([attacker, times]) => `${kind}: ${attacker} reached the server ${times} times, ${least} are needed`))
    if (Object.keys(run.reached).length < ATTACKERS) missing.push(`${kind}: not everybody reached the server`)
    if (run.decided === 0 || run.undecided === 0) missing.push(`${kind}: ${run.decided} actions were decided and ${run.undecided} were not`)
    runs.push({ database: kind, ...run })
  }
  return { violations, missing, figures: runs }
}
