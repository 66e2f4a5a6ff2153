import { type Random, seededRandom } from '../../simulation/random.ts'
import type { PostgresCluster } from '../../testing/postgres.ts'
import { type Answer, type Arena, type Decider, openArena } from './arena.ts'

export interface ContestOptions {
  cluster: PostgresCluster | undefined
  seed: number
  /** Actions that several people decide at once. */
  contests: number
  /** Epoch milliseconds after which none begins; default: none. */
  endsAt?: number
  say(line: string): void
}

export interface ContestReport {
  database: string
  seed: number
  contests: number
  /** Requests that decided or tried to. */
  decisions: number
  /** By how many people decided. */
  byDeciders: Record<number, number>
  /** Of one's own decision. */
  repeats: number
  minutes: number
  violations: string[]
}

/** Contests under way at a time. */
const AT_ONCE = 8
const MOST_DECIDERS = 8

interface Attempt {
  who: Decider
  verdict: 'approve' | 'decline'
  answer: Answer
}

/** Lets 2 to 8 people decide the same action at once, in different ways, at different servers, again and again. */
export async function runContests({
  cluster,
  seed,
  contests,
  endsAt = Number.POSITIVE_INFINITY,
  say,
}: ContestOptions): Promise<ContestReport> {
  const since = Date.now()
  await using arena = await openArena({ cluster, deciders: MOST_DECIDERS })
  const report: ContestReport = {
    database: arena.database.kind,
    seed,
    contests: 0,
    decisions: 0,
    byDeciders: {},
    repeats: 0,
    minutes: 0,
    violations: [],
  }
  /** The winner of each action, as its people were told. */
  const winners = new Map<string, { by: string; verdict: string }>()

  async function contest(random: Random, name: string): Promise<void> {
    const proposed = await arena.post(random.int(arena.doors), arena.deciders[0] as Decider, '/api/actions', {
      tool: 'prize',
      arguments: { what: name },
    })
    const { id } = proposed.body
    const people = 2 + random.int(MOST_DECIDERS - 1)
    const attempts = await Promise.all(decide(arena, random, id, people))
    report.contests++
    report.decisions += attempts.length
    report.byDeciders[people] = (report.byDeciders[people] ?? 0) + 1
    report.repeats += attempts.length - people
    const judged = judge(id, attempts)
    if (judged.winner) winners.set(id, judged.winner)
    report.violations.push(...judged.problems.map((problem) => `${name}: ${problem}`))
    if (report.contests % 1_000 === 0) say(`${report.contests} contests, ${report.decisions} decisions`)
  }

  let next = 0
  const worker = async () => {
    while (next < contests && Date.now() < endsAt) {
      const number = ++next
      await contest(seededRandom(seed * 1_000_000 + number), `prize-${number}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  report.violations.push(...(await historyProblems(arena, winners)))
  return { ...report, minutes: Math.round((Date.now() - since) / 6_000) / 10 }
}

/** Everybody at once, some of them twice, each at any server. */
const decide = ({ deciders, doors, post }: Arena, random: Random, id: string, people: number): Promise<Attempt>[] =>
  deciders.slice(0, people).flatMap((who) => {
    const verdict = random.pick(['approve', 'decline'] as const)
    return Array.from({ length: random.chance(0.2) ? 2 : 1 }, async () => ({
      who,
      verdict,
      answer: await post(random.int(doors), who, `/api/actions/${id}/decision`, { verdict }),
    }))
  })

/** One winner, and everybody else is told who that is. */
function judge(id: string, attempts: readonly Attempt[]): { winner?: { by: string; verdict: string }; problems: string[] } {
  const won = attempts.filter(({ answer }) => answer.status === 200)
  const [first] = won
  if (!first) return { problems: [`nobody won: ${attempts.map(({ answer }) => answer.status).join(', ')}`] }
  const winner = { by: first.who.id, verdict: first.verdict }
  const problems: string[] = []
  for (const { who, verdict, answer } of attempts) {
    const { status, body } = answer
    const action = status === 200 ? body : body.action
    if (status === 200 && who !== first.who) problems.push(`${first.who.name} won and so did ${who.name}`)
    if (status !== 200 && (status !== 409 || body.code !== 'already_decided'))
      problems.push(`${who.name} was answered ${status} ${body.code}`)
    if (status !== 200 && !String(body.detail).includes(first.who.name))
      problems.push(`${who.name} was not told that ${first.who.name} won`)
    const [vote, ...others] = action?.votes ?? []
    if (action?.id !== id || others.length > 0 || vote?.by.id !== winner.by || vote.verdict !== winner.verdict) {
      problems.push(`${who.name} (${verdict}, ${status}) was told of the votes ${JSON.stringify(action?.votes)}`)
    }
  }
  return { winner, problems }
}

/** Checks that the stored history matches the answers: one vote and one move, in the rows and in the log. */
async function historyProblems({ database }: Arena, winners: ReadonlyMap<string, { by: string; verdict: string }>): Promise<string[]> {
  const { actions, votes, events } = await database.readAll()
  const votesOf = Map.groupBy(votes, ({ action_id }) => action_id)
  const moves = new Map<string, string[]>()
  for (const { events: text } of events) {
    for (const [, type, data] of JSON.parse(text))
      if (type === 'action_update') moves.set(data.proposalId, [...(moves.get(data.proposalId) ?? []), data.state])
  }
  return actions.flatMap(({ id, state }) => {
    const told = winners.get(id)
    const cast = votesOf.get(id) ?? []
    const expected = told?.verdict === 'approve' ? 'approved' : 'declined'
    const problems: string[] = []
    if (cast.length !== 1 || cast[0]?.principal_id !== told?.by || cast[0]?.verdict !== told?.verdict)
      problems.push(`its votes are ${JSON.stringify(cast)}`)
    if (state !== expected) problems.push(`it is ${state}`)
    if (moves.get(id)?.join() !== expected) problems.push(`its log says ${moves.get(id)?.join(', ')}`)
    return problems.map((problem) => `${id}, won by ${told?.by} (${told?.verdict}): ${problem}`)
  })
}
