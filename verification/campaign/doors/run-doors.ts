import { type Action, isSettled } from '@countersign/core'
import { type Random, seededRandom } from '../../simulation/random.ts'
import { PROXY_SETTINGS, startNginx, whyNoNginx } from '../../testing/nginx.ts'
import { whyNoOtherUser } from '../../testing/other-user.ts'
import { signInWithKey } from '../../testing/sign-in.ts'
import { concurrently } from '../concurrently.ts'
import { ATTACKERS, type Chance, type Leaver, steal } from './attackers.ts'
import { type Beside, openBeside } from './beside.ts'
import { compareRefusals, createLedger } from './ledger.ts'
import { bearer, type Holder, openWorld, propose, type World } from './world.ts'

export interface DoorsOptions {
  database: 'sqlite' | 'postgres'
  seed: number
  rounds: number
  /** No new round begins this long after the first. */
  minutes: number
  /** False leaves the browser out. */
  hasBrowser: boolean
  say(line: string): void
}

export interface DoorsReport {
  violations: string[]
  rounds: number
  /** Actions that the right people approved, and those that they did not. */
  decided: number
  undecided: number
  /** How often each attacker reached the server. */
  reached: Readonly<Record<string, number>>
  statuses: Readonly<Record<number, number>>
}

const ACTIONS = 4
const ATTEMPTS = 40
const WORKERS = 4
/** So many minutes a decided action has to be settled: a busy machine takes its time, and what hangs ends. */
const MOST_WAITS = 4

/**
 * Everybody who would like to walk round the gate tries it in a random order, while the right people decide some of the actions. At the end
 * each action has the effect that they decided, and the record has every refusal.
 */
export async function runDoors({ database, seed, rounds, minutes, hasBrowser, say }: DoorsOptions): Promise<DoorsReport> {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await openWorld(database))
  const ledger = createLedger()
  const random = seededRandom(seed)
  const proxies: string[] = []
  for (const more of whyNoNginx === undefined ? PROXY_SETTINGS : []) proxies.push(stack.use(await startNginx(world.url, more)).url)
  const beside: Beside | undefined = hasBrowser ? stack.use(await openBeside(world, ledger)) : undefined
  const kinds = (Object.keys(ATTACKERS) as (keyof typeof ATTACKERS)[]).filter(
    (kind) => (kind !== 'outsider' || proxies.length > 0) && (kind !== 'otherUser' || whyNoOtherUser === undefined),
  )
  /** The holders of valid votes, by action. */
  const votes = new Map<string, { action: Action; by: Set<string> }>()
  const voted = ({ id }: Action, { principal }: Holder) => votes.get(id)?.by.add(principal.id)

  const endsAt = Date.now() + minutes * 60_000
  let round = 0
  for (; round < rounds && Date.now() < endsAt; round++) {
    const actions: Action[] = []
    for (let n = 0; n < ACTIONS; n++) actions.push(await propose(world, `${round}.${n}`))
    for (const action of actions) votes.set(action.id, { action, by: new Set() })
    const leaver = await leave(world, `Lea ${round}`, random.pick(actions))
    const stolen = await steal(world)
    const attempts = Array.from({ length: ATTEMPTS }, (_, n) => () => {
      const kind = kinds[n % kinds.length] ?? 'shell'
      const own = seededRandom(random.int(2 ** 31))
      const chance: Chance = { world, ledger, random: own, action: own.pick(actions), leaver, stolen, proxies, voted }
      return ATTACKERS[kind](chance)
    })
    const decisions = actions.flatMap((action) =>
      [world.people.ana, world.people.ben]
        .filter(() => random.chance(0.6))
        .map((who) => async () => {
          const { status } = await world.send('POST', `/api/actions/${action.id}/decision`, bearer(who), { verdict: 'approve' })
          // Two others, one of them the admin with their own vote, were faster.
          if (status === 409) return
          if (status !== 200) throw new Error(`${who.principal.name} decides ${action.id} and is answered ${status}`)
          voted(action, who)
        }),
    )
    const fromBeside = beside ? [() => beside.attack(random.pick(actions))] : []
    await concurrently(WORKERS, shuffled([...attempts, ...decisions, ...fromBeside], random).values(), (job) => job())
    say(`round ${round + 1}: ${votes.size} actions, ${ledger.violations.length} violations`)
  }

  await world.restart()
  const problems = [...ledger.violations, ...compareRefusals(ledger.refusals, await world.readRefusals())]
  let decided = 0
  for (const { action, by } of votes.values()) {
    const isDecided = by.size >= 2
    if (isDecided) decided++
    problems.push(...(await judgeAction(world, action, by)))
  }
  if (world.target.writes.length !== decided)
    problems.push(`${decided} actions were decided, and there are ${world.target.writes.length} effects`)
  return {
    violations: problems,
    rounds: round,
    decided,
    undecided: votes.size - decided,
    reached: ledger.reached,
    statuses: ledger.statuses,
  }
}

/** Sentences about an action that has not exactly the effect that the right people decided. */
async function judgeAction(
  { succeed, people, target }: World,
  { id, arguments: given }: Action,
  by: ReadonlySet<string>,
): Promise<string[]> {
  const isDecided = by.size >= 2
  const read = async (query = '') => (await succeed<Action>(people.ana, 'GET', `/api/actions/${id}${query}`)).state
  let state = await read()
  for (let waits = 0; isDecided && !isSettled(state) && waits < MOST_WAITS; waits++) state = await read('?wait=60&until=settled')
  const effects = target.writes.filter(({ body }) => JSON.stringify(body) === JSON.stringify(given)).length
  const right = isDecided ? state === 'succeeded' && effects === 1 : state === 'proposed' && effects === 0
  return right ? [] : [`${id} has ${by.size} right votes; it is ${state} and has ${effects} effects`]
}

/** Somebody approves, lends their vote, and leaves. */
async function leave({ hire, succeed, people, url, send }: World, name: string, action: Action): Promise<Leaver> {
  const person = await hire({ name, kind: 'person', roles: ['approver'] })
  const agent = await hire({ name: `${name}’s agent`, kind: 'agent', person: person.principal.id })
  const console = await signInWithKey(url, person.key)
  await succeed(person, 'POST', '/api/delegations', { to: people.vic.principal.id, expiresIn: 'P1D' })
  await succeed(person, 'POST', `/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await succeed(people.cheat, 'POST', `/api/people/${person.principal.id}/disable`)
  const { status } = await send('GET', '/api/actions', bearer(person))
  if (status !== 401) throw new Error(`${name} left and is answered ${status}`)
  return { person, agent, console }
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const rest = [...list]
  return Array.from(list, () => rest.splice(random.int(rest.length), 1)[0] as T)
}
