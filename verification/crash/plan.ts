import type { JsonObject } from '@countersign/core'
import type { Random } from '../simulation/random.ts'
import type { How } from './ledger-file.ts'
import type { AgentPlan } from './script.ts'

/** The ways in which a person's decision can reach the server. */
const ROUTES = ['decision', 'chat', 'session', 'word', 'tool'] as const
export type Route = (typeof ROUTES)[number]

/** How people handle an action. */
export interface Fate {
  verdict: 'approve' | 'decline' | 'leave'
  route: Route
  /** The decision carries an Idempotency-Key. */
  isKeyed: boolean
  /** Another person decides the opposite at the same time. */
  isContested: boolean
  /** A decline that ends the run. */
  stops: boolean
  /** A failed action is retried. */
  retries: boolean
  /** How an unknown outcome is handled: the tool verifies it, a person resolves it, or it stays unknown. */
  unknown: 'verify' | 'resolve' | 'leave'
  /** The client that is to carry it out leaves with its claim. */
  vanishes: boolean
}

const TOOLS = ['keyed', 'unkeyed', 'probed', 'brief', 'client', 'allowed', 'denied', 'look'] as const

export interface PlannedCall {
  /** Unlike any other call of the campaign's world. */
  what: string
  tool: (typeof TOOLS)[number]
  /** The ledger's behaviour, one value per arrival. */
  how: string
  fate: Fate
}

export interface PlannedSession {
  name: string
  agent: 'desk' | 'strict'
  plan: AgentPlan
  /** A message that comes while the first is under way. */
  andThen: AgentPlan | undefined
  /** A person cancels it this long after the first message. */
  cancelAfterMs: number | undefined
  /** It is called for step by step, as a program does that cannot stay. */
  isRequest: boolean
}

export const argumentsOf = ({ tool, what, how }: PlannedCall): JsonObject => (tool === 'look' ? { what } : { what, how })

/** The requests of one round's clients. */
export interface RoundPlan {
  sessions: PlannedSession[]
  outside: PlannedCall[]
  /** Every planned call by its name. */
  calls: Map<string, PlannedCall>
}

const KEYED: Partial<Record<string, number>> = {
  answer: 30,
  hold: 15,
  'drop.answer': 8,
  'reset_early.answer': 5,
  'reset_late.answer': 5,
  'bad_gateway.answer': 8,
  'cut.answer': 6,
  'slow.answer': 3,
  'late.answer': 3,
  'refuse.answer': 10,
  drop: 2,
}
const UNKEYED: Partial<Record<How | 'refuse.answer', number>> = {
  answer: 30,
  hold: 30,
  drop: 8,
  reset_early: 6,
  reset_late: 6,
  bad_gateway: 8,
  cut: 6,
  slow: 3,
  late: 3,
  'refuse.answer': 12,
}
/** Of what can be looked up, some act only after the first looks. */
const PROBED: typeof UNKEYED = { ...UNKEYED, very_late: 12 }

/** Plans that make servers reach a checkpoint which chance seldom brings about. */
interface Leaning {
  tool?: PlannedCall['tool']
  how?: string
  fate?: Partial<Fate>
  hasRunsFail?: boolean
  hasRunsCancelled?: boolean
}

const APPROVED: Partial<Fate> = { verdict: 'approve', isContested: false }

/** By the first word of a point's name. */
const LEANINGS: Record<string, Leaning> = {
  verify: { tool: 'probed', how: 'very_late', fate: { ...APPROVED, unknown: 'verify' } },
  resolve: { tool: 'unkeyed', how: 'drop', fate: { ...APPROVED, unknown: 'resolve' } },
  retry: { tool: 'unkeyed', how: 'refuse.answer', fate: { ...APPROVED, retries: true } },
  check: { tool: 'probed', how: 'very_late', fate: { ...APPROVED, unknown: 'leave' } },
  resend: { tool: 'keyed', how: 'drop.answer', fate: APPROVED },
  claim: { tool: 'client', fate: APPROVED },
  result: { tool: 'client', fate: { ...APPROVED, vanishes: false } },
  hold: { tool: 'client', fate: { ...APPROVED, vanishes: true } },
  expire: { tool: 'brief', fate: { verdict: 'leave' } },
  remind: { tool: 'brief', fate: { verdict: 'leave' } },
  timer: { tool: 'brief', fate: { verdict: 'leave' } },
  run: { hasRunsFail: true },
  cancel: { hasRunsCancelled: true },
}

/** Every other call and session of a round is as its point needs it. */
const LEAN = 0.5

/**
 * Plans a round; all its names begin with `name`.
 * @param towards The name of the point where a server is to die.
 */
export function planRound(random: Random, name: string, { sessions = 3, outside = 6, towards = '' } = {}): RoundPlan {
  const leaning = LEANINGS[towards.split('.')[0] ?? '']
  const lean = () => (leaning && random.chance(LEAN) ? leaning : {})
  const calls = new Map<string, PlannedCall>()
  const call = (): PlannedCall => {
    const tool = random.weigh({ keyed: 28, unkeyed: 34, probed: 14, brief: 8, client: 10, allowed: 6, denied: 4, look: 6 })
    const how = random.weigh(tool === 'keyed' || tool === 'allowed' ? KEYED : tool === 'probed' ? PROBED : UNKEYED)
    const leant = lean()
    const planned: PlannedCall = {
      what: `${name}-${calls.size + 1}`,
      tool: leant.tool ?? tool,
      how: leant.how ?? how,
      fate: { ...planFate(random), ...leant.fate },
    }
    calls.set(planned.what, planned)
    return planned
  }
  const step = (): AgentPlan['steps'][number] => {
    const made = Array.from({ length: 1 + random.int(3) }, call)
    return {
      ...(random.chance(0.5) && speech(random)),
      calls: made.map((planned) => ({ tool: planned.tool, arguments: argumentsOf(planned) })),
    }
  }
  const plan = (): AgentPlan => ({
    steps: [
      ...Array.from({ length: 1 + random.int(2) }, step),
      (lean().hasRunsFail ?? random.chance(0.1)) ? { error: 'a planned failure' } : speech(random),
    ],
  })
  return {
    sessions: Array.from({ length: sessions }, (_, i) => ({
      name: `${name}-session-${i + 1}`,
      agent: random.chance(0.8) ? 'desk' : 'strict',
      plan: plan(),
      andThen: (lean().hasRunsFail ?? random.chance(0.3)) ? plan() : undefined,
      cancelAfterMs: (lean().hasRunsCancelled ?? random.chance(0.15)) ? random.int(200) : undefined,
      isRequest: random.chance(0.25),
    })),
    outside: Array.from({ length: outside }, call),
    calls,
  }
}

/** Some words; said slowly they are streamed in several pieces. */
const speech = (random: Random) => ({
  text: Array.from({ length: 4 + random.int(8) }, (_, i) => `word${i}`).join(' '),
  chunkDelayMs: random.pick([0, 0, 8]),
})

const planFate = (random: Random): Fate => ({
  verdict: random.weigh({ approve: 75, decline: 15, leave: 10 }),
  route: random.pick(ROUTES),
  isKeyed: random.chance(0.5),
  isContested: random.chance(0.15),
  stops: random.chance(0.1),
  retries: random.chance(0.5),
  unknown: random.weigh({ verify: 20, resolve: 20, leave: 60 }),
  vanishes: random.chance(0.25),
})
