import { type Logger, pino } from 'pino'
import type { Agent } from '../../packages/server/src/agent/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { openTools, type ToolRegistry } from '../../packages/toolkit/src/open-tools.ts'
import { agentsOnDecline } from '../testing/agents-on-decline.ts'
import { type ModelDeps, simulatedModel } from './model.ts'
import type { Target } from './target.ts'
import type { Owner } from './timeline.ts'

/** A line of the log: a warning or an error. */
export interface LogEntry {
  /** As pino has it: 40 for a warning, 50 for an error. */
  level: number
  msg: string
  line: string
}

/** The surroundings of a slot's tools and models. */
export interface Surroundings extends ModelDeps {
  target: Target
  onLog(owner: Owner, entry: LogEntry): void
}

/**
 * A machine that processes run on, one at a time. Tools, agents and the log are made once per slot, not once per process: checking a
 * schema and hashing it would be most of a short simulation.
 */
export interface Slot {
  now: Surroundings | undefined
  readonly tools: ToolRegistry
  readonly agents: readonly Agent[]
  readonly log: Logger
}

export const TOOL_TIMEOUT_MS = 400
/** A request that was sent acts within this time after its tool gave up waiting, or never. */
export const SETTLES_MS = 7_000

/** The tools of simulated worlds. */
export const TOOLS = [
  // Reads, and may be given what was read a short while ago.
  { name: 'look', effect: 'read', idempotent: true, looks: false },
  // Honours our key.
  { name: 'charge', effect: 'write', idempotent: true, looks: false },
  // Knows nothing of keys.
  { name: 'mail', effect: 'write', idempotent: false, looks: false },
  // Knows nothing of keys, but can be asked what was done.
  { name: 'book', effect: 'write', idempotent: false, looks: true },
  // Carried out by whichever client claims it; its target knows nothing of keys.
  { name: 'sign', effect: 'write', idempotent: false, looks: false },
  // Policy denies it.
  { name: 'wipe', effect: 'write', idempotent: false, looks: false },
] as const

const NEVER = new Promise<never>(() => undefined)

export function createSlot(): Slot {
  const slot: { now: Surroundings | undefined } = { now: undefined }
  const around = (): Surroundings => {
    if (!slot.now) throw new Error('no process runs on this slot')
    return slot.now
  }
  const tools = openTools({ shop: { prefix: true, tools: TOOLS.map((tool) => simulatedTool(tool, around)) } })
  const model = simulatedModel(around)
  const agents = agentsOnDecline(model, tools.all(), 8)
  const log = pino(
    { level: 'warn', base: null, timestamp: false, serializers: { error: pino.stdSerializers.err } },
    {
      write: (line: string) => around().onLog(around().owner, { ...JSON.parse(line), line }),
    },
  )
  return Object.assign(slot, { tools, agents, log })
}

function simulatedTool({ name, effect, idempotent, looks }: (typeof TOOLS)[number], around: () => Surroundings) {
  const facts = { name, keyed: idempotent && effect === 'write', writes: effect === 'write' }
  const input = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'], additionalProperties: false }
  const common = { name, description: name, effect, idempotent, timeoutMs: TOOL_TIMEOUT_MS, input }
  if (name === 'sign') return defineTool({ ...common, executor: 'client' })
  return defineTool({
    ...common,
    ...(effect === 'read' && { cacheFor: 'PT10S' }),
    preview: ({ what }) => readCurrent(String(what), around()),
    execute: (args, context) => {
      const { target, owner } = around()
      return owner.state === 'dead' ? NEVER : target.send(owner, facts, args, context)
    },
    ...(looks && {
      settlesWithin: SETTLES_MS,
      verify: (_, context) => {
        const { target, owner } = around()
        return owner.state === 'dead' ? NEVER : target.tell(owner, context)
      },
    }),
  })
}

const readCurrent = (what: string, { timeline, random, owner }: Surroundings) =>
  new Promise<{ field: string; newValue: string }[]>((resolve) => {
    timeline.after(random.next() * 5, '', () => resolve([{ field: 'what', newValue: what }]), owner)
  })
