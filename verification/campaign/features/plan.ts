import type { JsonObject } from '@countersign/core'
import type { Random } from '../../simulation/random.ts'
import { KINDS, type Kind, LOCAL, type Phase, wayTo } from './kinds.ts'
import type { How } from './targets-file.ts'

export const NAMES = ['Ana', 'Ben', 'Cy', 'Dee', 'Fay', 'Gil', 'Vic'] as const
/** Ana to Dee approve, Fay and Gil are finance, Vic has no role and decides in Fay's place while she lends him that. */
export type Name = (typeof NAMES)[number]
const APPROVERS: readonly Name[] = ['Ana', 'Ben', 'Cy', 'Dee']

/** One vote of one person on the first revision; a person's votes follow each other. */
export interface PlannedVote {
  who: Name
  verdict: 'approve' | 'decline'
  afterMs: number
  /** Approves this instead. */
  edit?: JsonObject
  /** Allows as many more calls of its batch. */
  uses?: number
}

export interface PlannedCall {
  /** Unlike any other call of its world; says what its target does with it. */
  what: string
  kind: Kind
  tool: string
  arguments: JsonObject
  votes: PlannedVote[]
  /** The people who approve every later revision. */
  again: readonly Name[]
}

/** Calls that one grant is about. */
export interface PlannedBatch {
  first: PlannedCall
  /** Made once the grant is there. */
  more: PlannedCall[]
  /** When the grant is revoked, after it was made. */
  revokeAfterMs: number | undefined
  /** Made once the grant is revoked. */
  last: PlannedCall
}

export interface RoundPlan {
  calls: PlannedCall[]
  batches: PlannedBatch[]
  /** Fay lends Vic her vote, and ends that after so long. */
  lendsFor: number | undefined
}

export interface PlanOptions {
  random: Random
  kind: Kind
  phase: Phase
  /** Other kinds that still have to be met in the phase, least often met first: the round has calls of them too, so that one death meets several. */
  alsoWanted: readonly Kind[]
  /** Numbers for names. */
  count(): number
  /** Key results that progress can be recorded for. */
  keyResults: readonly string[]
  /** Requests may arrive later than any look after them. */
  hasLate: boolean
}

export const callsOf = ({ calls, batches }: RoundPlan): PlannedCall[] => [
  ...calls,
  ...batches.flatMap(({ first, more, last }) => [first, ...more, last]),
]

/** Calls of the round's own kind, and calls of others beside them. */
const SAME_KIND = 3
const COMPANIONS = 4

/** A round whose server is to die while a call of `kind` is in `phase`: several of that kind, and others where that says no less. */
export function planRound(options: PlanOptions): RoundPlan {
  const { random, kind, phase, alsoWanted } = options
  const plan: RoundPlan = { calls: [], batches: [], lendsFor: undefined }
  const way = wayTo(kind, phase)
  const lead = 'held' in way ? way.held : 'answer'
  // A death at a checkpoint is attributed by the kind of call, so such a round has only one kind.
  const isAlone = LOCAL.has(kind) || phase === 'deciding'
  const add = (kind: Kind, how: How) => addCall(plan, options, kind, how, phase)
  for (let i = 0; i < SAME_KIND; i++) add(kind, random.chance(0.8) ? lead : howOf(options))
  if (!isAlone) {
    // Calls with a local effect are identified by the checkpoint where the server died: with other calls around, the death could be theirs.
    const wanted = alsoWanted.filter((other) => !LOCAL.has(other)).slice(0, COMPANIONS)
    for (const other of wanted) add(other, lead)
    for (let i = wanted.length; i < COMPANIONS; i++) add(random.pick(KINDS), howOf(options))
  }
  if (callsOf(plan).some((call) => call.kind === 'delegation')) plan.lendsFor = random.chance(0.6) ? random.int(400) : 60_000
  return plan
}

const howOf = ({ random, hasLate }: PlanOptions): How =>
  random.weigh({ answer: 66, drop: 9, lose: 9, refuse: 8, sent: 2, acted: 2, late: hasLate ? 6 : 0 })

function addCall(plan: RoundPlan, options: PlanOptions, kind: Kind, how: How, phase: Phase): void {
  const { random } = options
  if (kind !== 'grant') return void plan.calls.push(planCall(options, kind, how, phase))
  const batch = `b${options.count()}`
  const one = (votes: PlannedVote[]): PlannedCall => {
    const call = planCall(options, kind, how, phase)
    return { ...call, arguments: { ...call.arguments, batch }, votes }
  }
  const vote = (): PlannedVote[] => [{ who: 'Ben', verdict: random.chance(0.7) ? 'approve' : 'decline', afterMs: random.int(100) }]
  const first = one([{ who: 'Ana', verdict: 'approve', afterMs: random.int(30), uses: 1 + random.int(2) }])
  const rest = (call: PlannedCall) => ({ ...call, tool: first.tool })
  plan.batches.push({
    first,
    more: [1, 2, 3].map(() => rest(one(vote()))),
    revokeAfterMs: random.chance(0.5) ? random.int(150) : undefined,
    last: rest(one(vote())),
  })
}

function planCall(options: PlanOptions, kind: Kind, how: How, phase: Phase): PlannedCall {
  const { random } = options
  const number = options.count()
  const what = `c${number}-${LOCAL.has(kind) ? 'answer' : how}`
  const yes = (who: Name): PlannedVote => ({ who, verdict: 'approve', afterMs: random.int(60) })
  const one = (): PlannedVote[] => [random.chance(0.9) ? yes('Ana') : { ...yes('Ben'), verdict: 'decline' }]
  const call = (tool: string, args: JsonObject, votes: PlannedVote[] = one(), again: readonly Name[] = ['Ana']): PlannedCall => ({
    ...{ what, kind, tool, arguments: args, votes, again },
  })
  const own = (tool: string, votes?: PlannedVote[], again?: readonly Name[]) =>
    call(random.chance(0.5) ? tool : `${tool}Keyed`, { what, note: 'as asked', batch: 'none' }, votes, again)
  switch (kind) {
    case 'quorum':
      return own(random.pick(['two', 'three']), quorumVotes(random), APPROVERS)
    case 'edit':
      return own(random.pick(['change', 'two']), editVotes(random, what), APPROVERS)
    case 'grant':
      return own('often')
    case 'delegation':
      return random.chance(0.5)
        ? own('pay', [{ ...yes('Vic') }, ...(random.chance(0.3) ? [yes('Fay')] : [])], ['Fay'])
        : own('payTwo', [yes('Vic'), { ...yes('Gil'), afterMs: random.int(300) }], ['Fay', 'Gil'])
    case 'gateway':
      return own('call')
    case 'github':
      return random.chance(0.5)
        ? call('github.createIssue', { title: what, body: 'As asked.' })
        : call('github.commentOnIssue', { number: 1, body: what })
    case 'linear':
      return call('linear.createIssue', { team: 'ENG', title: what })
    case 'openapi':
      return call('stock.parts.update', { sku: `C-${number}`, body: { name: what } })
    case 'workspace':
      return call(...workspaceCall(random, what, phase))
    case 'objectives':
      return call(...objectivesCall(options, what, number))
  }
}

/** Everybody votes, some change their minds: sometimes enough of them agree. */
const quorumVotes = (random: Random): PlannedVote[] =>
  APPROVERS.flatMap((who) =>
    Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => ({
      ...{ who, afterMs: random.int(120) },
      verdict: random.chance(0.75) ? ('approve' as const) : ('decline' as const),
    })),
  )

/** One or two edit, somebody else says yes or no to what was asked, all at about the same time. */
const editVotes = (random: Random, what: string): PlannedVote[] => {
  const edit = (who: Name): PlannedVote => ({
    ...{ who, verdict: 'approve', afterMs: random.int(60) },
    edit: { what, note: `as ${who} wrote`, batch: 'none' },
  })
  return [
    edit('Ana'),
    ...(random.chance(0.4) ? [edit('Ben')] : []),
    ...(random.chance(0.6) ? [{ who: 'Cy' as const, verdict: random.pick(['approve', 'decline'] as const), afterMs: random.int(80) }] : []),
  ]
}

function workspaceCall(random: Random, what: string, phase: Phase): [string, JsonObject] {
  const way = random.weigh({ write: 3, own: 2, shared: 3, branch: phase === 'sent' ? 0 : 2 })
  switch (way) {
    case 'write':
      return ['repo.writeFile', { path: `files/${what}.txt`, content: wholeText(what) }]
    case 'own':
      return ['repo.editFile', { path: `own/${what}.txt`, edits: [{ oldText: 'begin', newText: `begin ${what}` }] }]
    case 'shared':
      return ['repo.editFile', { path: 'shared.txt', edits: [{ oldText: 'END\n', newText: `${what}\nEND\n` }] }]
    case 'branch':
      return ['repo.createBranch', { name: `b-${what}`, checkOut: false }]
  }
}

/** Long enough to be found half written. */
const wholeText = (what: string): string => `${what}\n`.repeat(2_000)

function objectivesCall({ random, keyResults }: PlanOptions, what: string, number: number): [string, JsonObject] {
  if (random.chance(0.5) || keyResults.length === 0) {
    return ['goals.createObjective', { title: what, owner: 'ops', period: '2026', keyResults: [{ title: 'One', start: 0, target: 10 }] }]
  }
  return ['goals.recordProgress', { keyResult: random.pick(keyResults), current: number, note: what }]
}
