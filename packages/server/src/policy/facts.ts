import { type JsonObject, type JsonValue, type Principal, personOf, type Tool } from '@countersign/core'

/** A call as policy is asked about it. */
export interface PolicyCall {
  tool: Pick<Tool, 'name' | 'group' | 'effect' | 'destination'>
  arguments: JsonObject
  agent: string | undefined
  /** The session it was proposed in; null where an outside agent proposes. */
  session: { id: string; agent: string; title: string } | null
  /** On whose behalf it was proposed. */
  requester: Principal
  nowMs: number
}

/** What a condition may name. A variable that lists its fields has no others. */
export const FACTS: Record<string, { type: string; fields?: readonly string[] }> = {
  args: { type: 'map<string, dyn>' },
  tool: { type: 'map<string, string>', fields: ['name', 'group', 'effect', 'destination'] },
  agent: { type: 'map<string, string>', fields: ['name'] },
  session: { type: 'dyn', fields: ['id', 'agent', 'title'] },
  requester: { type: 'map<string, dyn>', fields: ['id', 'kind', 'name', 'roles', 'person'] },
  now: { type: 'google.protobuf.Timestamp' },
}

/** The facts of one call, turned into what the evaluator works on when the first condition asks for them. */
export class Facts {
  readonly #call: PolicyCall
  #values: ReadonlyMap<string, unknown> | undefined

  constructor(call: PolicyCall) {
    this.#call = call
  }

  values(): ReadonlyMap<string, unknown> {
    this.#values ??= valuesOf(this.#call)
    return this.#values
  }
}

function valuesOf({ tool, arguments: args, agent, session, requester, nowMs }: PolicyCall): ReadonlyMap<string, unknown> {
  const { name, group, effect, destination } = tool
  return new Map<string, unknown>([
    ['args', asFact(args)],
    ['tool', asFact({ name, group, effect, destination })],
    ['agent', asFact({ name: agent ?? '' })],
    ['session', session && asFact({ id: session.id, agent: session.agent, title: session.title })],
    [
      'requester',
      asFact({ id: requester.id, kind: requester.kind, name: requester.name, roles: requester.roles, person: personOf(requester) ?? '' }),
    ],
    ['now', new Date(nowMs)],
  ])
}

/** Maps instead of objects: with `{"constructor": …}` in its arguments a call would look like a type that nobody knows. */
function asFact(value: JsonValue): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(asFact)
  return new Map(Object.entries(value).map(([key, one]) => [key, asFact(one)]))
}
