import { type JsonObject, type JsonValue, type Principal, personOf, type Tool } from '@countersign/core'

/** A call as the policy evaluates it. */
export interface PolicyCall {
  tool: Pick<Tool, 'name' | 'caution' | 'registered' | 'group' | 'effect' | 'destination' | 'risk'>
  arguments: JsonObject
  agent: string | undefined
  /** The session it was proposed in; null where an outside agent proposes. */
  session: { id: string; agent: string; title: string } | null
  /** The person or agent on whose behalf it was proposed. */
  requester: Principal
  nowMs: number
}

/** The variables of a condition. A variable that lists its fields has no others. */
export const FACTS: Record<string, { type: string; fields?: readonly string[] }> = {
  args: { type: 'map<string, dyn>' },
  tool: { type: 'map<string, string>', fields: ['name', 'group', 'effect', 'destination'] },
  agent: { type: 'map<string, string>', fields: ['name'] },
  session: { type: 'dyn', fields: ['id', 'agent', 'title'] },
  requester: { type: 'map<string, dyn>', fields: ['id', 'kind', 'name', 'roles', 'person'] },
  now: { type: 'google.protobuf.Timestamp' },
}

/** Provides the facts of one call, each converted for the evaluator when the first condition needs it. */
export class Facts {
  readonly #call: PolicyCall
  readonly #values = new Map<string, unknown>()

  constructor(call: PolicyCall) {
    this.#call = call
  }

  /** Returns the facts of these names; the result may hold more. */
  values(names: readonly string[]): ReadonlyMap<string, unknown> {
    for (const name of names) if (!this.#values.has(name)) this.#values.set(name, MAKE[name]?.(this.#call))
    return this.#values
  }
}

const MAKE: Record<string, (call: PolicyCall) => unknown> = {
  args: ({ arguments: args }) => asFact(args),
  tool: ({ tool: { name, group, effect, destination } }) => asFact({ name, group, effect, destination }),
  agent: ({ agent }) => asFact({ name: agent ?? '' }),
  session: ({ session }) => session && asFact({ id: session.id, agent: session.agent, title: session.title }),
  requester: ({ requester }) => {
    const { id, kind, name, roles } = requester
    return asFact({ id, kind, name, roles, person: personOf(requester) ?? '' })
  },
  now: ({ nowMs }) => new Date(nowMs),
}

/** Converts objects to maps: with `{"constructor": …}` in its arguments a call would look like an unknown type. */
function asFact(value: JsonValue): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(asFact)
  const fact = new Map<string, unknown>()
  for (const key of Object.keys(value)) fact.set(key, asFact(value[key] as JsonValue))
  return fact
}
