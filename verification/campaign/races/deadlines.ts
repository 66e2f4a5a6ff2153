import { setTimeout as delay } from 'node:timers/promises'
import { type Random, seededRandom } from '../../simulation/random.ts'
import type { PostgresCluster } from '../../testing/postgres.ts'
import { type Answer, type Arena, type Decider, openArena } from './arena.ts'
import { CLOCK_VARIABLES } from './shift-clock.ts'

export interface DeadlineOptions {
  /** Undefined: one server on a database of its own. */
  cluster: PostgresCluster | undefined
  seed: number
  /** Decisions that must have been sent within {@link NEAR_MS} of a deadline. */
  decisions: number
  /** Decisions that must have come in time. */
  inTime: number
  /** Epoch milliseconds after which none begins; default: none. */
  endsAt?: number
  say(line: string): void
}

export interface DeadlineReport {
  database: string
  seed: number
  /** How far each server's clock was off, in minutes; `jumps` for one that goes to and fro. */
  clocks: string[]
  actions: number
  decisions: number
  /** Of these, sent within 5 ms of the deadline by the clock of the database's machine. */
  near: number
  accepted: number
  refused: number
  endings: Record<string, number>
  minutes: number
  violations: string[]
}

const NEAR_MS = 5
const SKEW_MS = 10 * 60_000
/** The shortest time that people can be given. */
const GIVEN = 'PT1S'
/** Actions whose deadlines are raced for in one second. */
const PER_BATCH = 120
/** Two sentences about one moment may differ by what a clock read in whole milliseconds hides. */
const ROUNDING_MS = 1

const CLOCKS = [
  { name: '+10', environment: { [CLOCK_VARIABLES.ahead]: String(SKEW_MS) } },
  { name: '-10', environment: { [CLOCK_VARIABLES.ahead]: String(-SKEW_MS) } },
  { name: 'jumps', environment: { [CLOCK_VARIABLES.ahead]: String(SKEW_MS), [CLOCK_VARIABLES.jumpEvery]: '700' } },
]

interface Raced {
  id: string
  deadlineMs: number
  attempts: { who: Decider; verdict: 'approve' | 'decline'; answer: Answer }[]
}

/** Decides actions at the moment they expire, at servers whose clocks are wrong. */
export async function runDeadlines({
  cluster,
  seed,
  decisions,
  inTime,
  endsAt = Number.POSITIVE_INFINITY,
  say,
}: DeadlineOptions): Promise<DeadlineReport> {
  const since = Date.now()
  // On the embedded database the time of the process is that of the database: there is no other clock to be wrong against.
  const clocks = cluster ? CLOCKS : []
  await using arena = await openArena({
    cluster,
    deciders: 3,
    nodeArgs: ['--import', new URL('./shift-clock.ts', import.meta.url).href],
    environmentOf: (door) => ({ ...clocks[door]?.environment }),
  })
  const random = seededRandom(seed)
  const raced: Raced[] = []
  const isNear = (one: Raced) => one.attempts.filter(({ answer }) => Math.abs(answer.sentMs - one.deadlineMs) <= NEAR_MS).length
  let near = 0
  let accepted = 0
  // On a slow machine most decisions come too late: the loop continues until enough came in time.
  while ((near < decisions || accepted < inTime) && Date.now() < endsAt) {
    const batch = await Promise.all(Array.from({ length: PER_BATCH }, (_, i) => race(arena, random, `${raced.length + i}`)))
    raced.push(...batch)
    near += batch.reduce((sum, one) => sum + isNear(one), 0)
    accepted += batch.flatMap((one) => one.attempts).filter(({ answer }) => answer.status === 200).length
    say(`${raced.length} actions, ${near} decisions within ${NEAR_MS} ms of a deadline`)
  }
  // Timers expire the undecided actions and may be a moment behind.
  await delay(2_000)
  const { endings, problems } = await judge(arena, raced)
  const attempts = raced.flatMap((one) => one.attempts)
  return {
    database: arena.database.kind,
    seed,
    clocks: clocks.map(({ name }) => name),
    actions: raced.length,
    decisions: attempts.length,
    near,
    accepted,
    refused: attempts.filter(({ answer }) => answer.status === 409).length,
    endings,
    minutes: Math.round((Date.now() - since) / 6_000) / 10,
    violations: problems,
  }
}

/** Proposes one action and lets up to three people decide it around its deadline. */
async function race({ post, doors, deciders }: Arena, random: Random, what: string): Promise<Raced> {
  const plans = deciders.slice(0, 1 + random.int(deciders.length)).map((who) => ({
    who,
    verdict: random.chance(0.7) ? ('approve' as const) : ('decline' as const),
    door: random.int(doors),
    // Mostly a little early: it takes some milliseconds to arrive.
    offsetMs: random.int(NEAR_MS + 3) - NEAR_MS,
  }))
  const door = random.int(doors)
  // The deadlines of a batch are spread over a second, so that each has the machine for itself.
  await delay(random.next() * 1_000)
  const { status, body } = await post(door, deciders[0] as Decider, '/api/actions', {
    tool: 'prize',
    arguments: { what },
    expiresIn: GIVEN,
  })
  if (status !== 201) throw new Error(`no action: ${JSON.stringify(body)}`)
  const deadlineMs = Date.parse(body.expiresAt)
  const attempts = plans.map(async ({ who, verdict, door: at, offsetMs }) => {
    await until(deadlineMs + offsetMs)
    return { who, verdict, answer: await post(at, who, `/api/actions/${body.id}/decision`, { verdict }) }
  })
  return { id: body.id, deadlineMs, attempts: await Promise.all(attempts) }
}

/** Waits by timer until a moment before, then turn by turn. */
async function until(atMs: number): Promise<void> {
  await delay(Math.max(0, atMs - Date.now() - 3))
  while (Date.now() < atMs) await new Promise((resolve) => setImmediate(resolve))
}

/** Each action ended once, nobody decided behind its deadline, nobody was refused before it, and everybody was told what had happened. */
async function judge({ database }: Arena, raced: readonly Raced[]): Promise<{ endings: Record<string, number>; problems: string[] }> {
  const { actions, votes, events } = await database.readAll()
  const rows = new Map(actions.map((row) => [row.id, row]))
  const votesOf = Map.groupBy(votes, ({ action_id }) => action_id)
  const moves = new Map<string, string[]>()
  for (const { events: text } of events) {
    for (const [, type, data] of JSON.parse(text)) {
      if (type === 'action_update') moves.set(data.proposalId, [...(moves.get(data.proposalId) ?? []), data.state])
    }
  }
  const endings: Record<string, number> = {}
  const problems = raced.flatMap(({ id, deadlineMs, attempts }) => {
    const row = rows.get(id)
    if (!row) return [`${id} is gone`]
    endings[row.state] = (endings[row.state] ?? 0) + 1
    const found: string[] = []
    const say = (problem: string) => found.push(`${id} (${row.state}, until ${deadlineMs}): ${problem}`)
    const cast = votesOf.get(id) ?? []
    const expected = { approved: 'approve', declined: 'decline', expired: undefined }[row.state as string]
    if (!['approved', 'declined', 'expired'].includes(row.state)) say('it has no end')
    if (cast.length !== (expected ? 1 : 0) || cast[0]?.verdict !== expected) say(`its votes are ${JSON.stringify(cast)}`)
    if (moves.get(id)?.join() !== row.state) say(`its log says ${moves.get(id)?.join(', ')}`)
    const won = attempts.filter(({ answer }) => answer.status === 200)
    if (won.length > 1 || won.length !== cast.length || (won[0] && won[0].who.id !== cast[0]?.principal_id))
      say(`${won.length} people were told that they decided`)
    for (const { who, answer } of attempts) {
      const { status, body, sentMs, receivedMs } = answer
      if (status === 200) {
        if (sentMs > deadlineMs + ROUNDING_MS) say(`${who.name} decided, ${sentMs - deadlineMs} ms late`)
        continue
      }
      if (status !== 409 || body.code !== 'already_decided') say(`${who.name} was answered ${status} ${body.code}`)
      if (body.action?.state !== row.state) say(`${who.name} was told that it is ${body.action?.state}`)
      if (row.state === 'expired' && receivedMs < deadlineMs - ROUNDING_MS)
        say(`${who.name} was refused ${deadlineMs - receivedMs} ms early`)
    }
    return found
  })
  return { endings, problems }
}
