import { createHash } from 'node:crypto'
import { type JsonObject, type JsonValue, type PreviewField, ToolError } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { definePlannedWrite, type ToolDraft } from '@countersign/toolkit'
import type { z } from 'zod'
import type { LinearClient } from './client.ts'
import type { LinearQuery } from './document.ts'
import { draftOf, type Workspace } from './read-tool.ts'
import { refuse } from './words.ts'

/** A planned change, based on the current state of Linear. */
export interface Plan {
  fields: PreviewField[]
  /** The variables of the mutation, with ids in place of names. The id of a created object is added when it is sent. */
  variables: JsonObject
  /** Arguments by their meaning, for the card's headline: `Devon` for `me`. Default: the arguments as given. */
  named?: JsonObject
  /** The values of `fields` that must not change: for a diff, the texts that it was computed from. Default: `fields`. */
  compared?: PreviewField[]
  /** The id that {@link LinearWrite.look} reads, if the variables do not contain it; for a removal, the id of what the object belongs to. */
  about?: string
  /** The time of the last change of the target. It shows whether a lost attempt reached Linear. */
  updatedAt?: string
}

export interface LinearWrite<Input extends z.ZodObject, Node> {
  name: string
  description: string
  input: Input
  describe(args: z.output<Input>): string
  document: LinearQuery<{ success: boolean; node: Node | null }>
  /** Reads the target and resolves the names. @throws ToolError `refused` for a missing or ambiguous target. */
  plan(linear: LinearClient, args: z.output<Input>, signal: AbortSignal): Promise<Plan>
  /** Returns the result, with only the useful members. `sent` is the sent variables. */
  view(node: Node, sent: JsonObject): JsonObject
  /** True for a plan that creates an object. Its id is derived from the key of the attempt. */
  creates?: boolean
  /**
   * For a plan that removes an object: true when the key still sees all of that kind where the object was, at `about`. Only then an object that
   * is not found was removed.
   */
  seesAllOf?(linear: LinearClient, about: string, signal: AbortSignal): Promise<boolean>
  /** Finds a created object by its id, or reads the object to change. `about` comes from the plan. */
  look(linear: LinearClient, id: string, signal: AbortSignal, about: string): Promise<Node | undefined>
  /** For changes: true when the object has the wanted values. */
  isDone?(node: Node, sent: JsonObject): boolean
}

/** Defines a write tool for Linear. */
export function writeTool<Input extends z.ZodObject, Node extends object>(
  workspace: Workspace,
  write: LinearWrite<Input, Node>,
): ToolDraft {
  const { linear } = workspace
  const { name, description, input, describe, document, creates = false, seesAllOf } = write
  const send = (variables: JsonObject, key: string) => (creates ? withId(variables, idOf(key)) : variables)
  const tool = definePlannedWrite({
    name,
    description,
    input,
    describe,
    plan: (args, signal) => write.plan(linear, args, signal),
    show({ fields, compared = fields, named, variables, about, updatedAt }: Plan, args) {
      // Resolved names replace arguments of the same type: a text replaces a text.
      const headline = describe({ ...args, ...named })
      const precondition = { shown: compared, sent: variables } as unknown as JsonValue
      return { fields, headline, precondition, version: JSON.stringify({ variables, about, updatedAt }) }
    },
    // The plan that was shown is the one that is sent.
    resume: (version): Plan => ({ fields: [], ...JSON.parse(version) }),
    async make(_, { plan, signal, idempotencyKey }) {
      const sent = send((await plan()).variables, idempotencyKey)
      const { success, node } = await linear.ask(document, sent, signal, idempotencyKey)
      if (!success) throw refuse('Linear answered that it did not do it.')
      return node === null ? { done: true } : write.view(node, sent)
    },
    async verify(_, { plan, signal, idempotencyKey }) {
      const { variables, about = '', updatedAt } = await plan()
      const sent = send(variables, idempotencyKey)
      const node = await write.look(linear, sentId(sent), signal, about)
      if (seesAllOf) {
        if (node) return { done: false }
        return (await seesAllOf(linear, about, signal)) ? { done: true, output: { done: true } } : { done: 'unknown' }
      }
      if (creates) return node ? { done: true, output: write.view(node, sent) } : { done: false }
      if (node && write.isDone?.(node, sent)) return { done: true, output: write.view(node, sent) }
      // If the object is unchanged since it was sent, nothing happened to it. If it changed otherwise, the order of the changes is unknown.
      return updatedAt !== undefined && node && updatedAtOf(node) === updatedAt ? { done: false } : { done: 'unknown' }
    },
    resultUrl: (_, output) => linkOf(linear, output),
  })
  return { ...draftOf(tool, workspace), definition: { sends: document.text, creates } }
}

const updatedAtOf = (node: object): unknown => ('updatedAt' in node ? node.updatedAt : undefined)

function withId(variables: JsonObject, id: string): JsonObject {
  if (!isObject(variables.input)) throw new ToolError('broken', 'There is nothing to create. Nothing was sent.')
  return { ...variables, input: { ...variables.input, id } }
}

/**
 * Returns the id of the object that an attempt creates: a UUID (version 4 in form) that is the same for every request of the attempt and
 * different for every other attempt.
 */
export function idOf(key: string): string {
  const hex = createHash('sha256').update(`countersign linear ${key}`).digest('hex')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** An input of a mutation in which the optional values may be undefined. */
type Given<Input> = { [Field in keyof Input]: Input[Field] | (Partial<Input> extends Pick<Input, Field> ? undefined : never) }

/** Returns the input of a mutation without the values that are undefined, which Linear is not to change. */
export const inputOf = <Input extends object>(given: Given<Input>): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as JsonObject

/** True when an object has every value of the input that was sent. @param now Its values by the fields of the input. */
export function hasInput(now: JsonObject, { input }: JsonObject): boolean {
  const wanted = isObject(input) ? Object.entries(input) : []
  return wanted.length > 0 && wanted.every(([field, value]) => now[field] === value)
}

/** Returns the id in the input of the sent variables. */
const sentId = ({ input, id }: JsonObject): string => String(isObject(input) && input.id !== undefined ? input.id : id)

/** Returns a link to Linear. Links to other origins are not shown. */
function linkOf({ linkOrigins }: LinearClient, output: JsonValue): string | undefined {
  const url = isObject(output) && typeof output.url === 'string' ? output.url : undefined
  return url !== undefined && URL.canParse(url) && linkOrigins.includes(new URL(url).origin) ? url : undefined
}
