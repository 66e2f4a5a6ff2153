import { createHash } from 'node:crypto'
import { type JsonObject, type JsonValue, type PreviewField, ToolError } from '@countersign/core'
import { definePlannedWrite, type ToolDraft } from '@countersign/toolkit'
import type { z } from 'zod'
import type { LinearClient } from './client.ts'
import type { LinearQuery } from './document.ts'
import { isObject } from './errors.ts'
import { draftOf, type Workspace } from './read-tool.ts'
import { refuse } from './words.ts'

/** What a change would be, as Linear is now. */
export interface Plan {
  /** What people are shown. */
  fields: PreviewField[]
  /** The variables of the mutation, every name in them an id. The id of what is created is put in when it is sent. */
  variables: JsonObject
  /** Arguments in the words of what they mean, for the card's headline: `Devon` for `me`. Default: as they came. */
  named?: JsonObject
  /** Of `fields`, what has to be the same still: for those with a diff, what it was made of. Default: `fields`. */
  compared?: PreviewField[]
  /** The id of what {@link LinearWrite.look} reads, where it is not in what is sent. */
  about?: string
  /** When what is changed was changed last: by this a lost attempt is told from one that arrived. */
  updatedAt?: string
}

export interface LinearWrite<Input extends z.ZodObject, Node> {
  name: string
  description: string
  input: Input
  describe(args: z.output<Input>): string
  document: LinearQuery<{ success: boolean; node: Node | null }>
  /** Reads what is there and resolves the names. @throws ToolError `refused` for what is not there, or may be several. */
  plan(linear: LinearClient, args: z.output<Input>, signal: AbortSignal): Promise<Plan>
  /** The result, without what nobody needs. `sent` is what was sent. */
  view(node: Node, sent: JsonObject): JsonObject
  /** A plan that creates something: its id is ours, made from the key of the attempt. */
  creates?: boolean
  /** A plan that takes something away: it is done when it is not there any more. */
  removes?: boolean
  /** Looks for what was created, by its id, or reads what was to be changed. `about` is the plan's. */
  look(linear: LinearClient, sent: JsonObject, signal: AbortSignal, about: string): Promise<Node | undefined>
  /** For changes: true when what was read is as it was to become. */
  isDone?(node: Node, sent: JsonObject): boolean
}

/** A tool that changes something in Linear. */
export function writeTool<Input extends z.ZodObject, Node extends object>(
  workspace: Workspace,
  write: LinearWrite<Input, Node>,
): ToolDraft {
  const { linear } = workspace
  const { name, description, input, describe, document, creates = false, removes = false } = write
  const send = (variables: JsonObject, key: string) => (creates ? withId(variables, idOf(key)) : variables)
  const tool = definePlannedWrite({
    name,
    description,
    input,
    describe,
    plan: (args, signal) => write.plan(linear, args, signal),
    show({ fields, compared = fields, named, variables, about, updatedAt }: Plan, args) {
      // Names take the place of names: each is a text where a text was.
      const headline = describe({ ...args, ...named })
      const precondition = { shown: compared, sent: variables } as unknown as JsonValue
      return { fields, headline, precondition, version: JSON.stringify({ variables, about, updatedAt }) }
    },
    // Exactly what was shown is what is sent.
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
      const node = await write.look(linear, sent, signal, about)
      if (removes) return node ? { done: false } : { done: true, output: { done: true } }
      if (creates) return node ? { done: true, output: write.view(node, sent) } : { done: false }
      if (node && write.isDone?.(node, sent)) return { done: true, output: write.view(node, sent) }
      // As it was when it was sent: nothing has happened to it at all. Changed otherwise: by whom in which order cannot be told.
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

/** The id of what an attempt creates: a UUID (version 4 in form) that every send of the attempt has in common and no other attempt has. */
export function idOf(key: string): string {
  const hex = createHash('sha256').update(`countersign linear ${key}`).digest('hex')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The id in the input of what was sent. */
export const sentId = ({ input, id }: JsonObject): string => String(isObject(input) && input.id !== undefined ? input.id : id)

/** A link of Linear's own: what another answer would lead people to is not shown. */
function linkOf({ linkOrigins }: LinearClient, output: JsonValue): string | undefined {
  const url = isObject(output) && typeof output.url === 'string' ? output.url : undefined
  return url !== undefined && URL.canParse(url) && linkOrigins.includes(new URL(url).origin) ? url : undefined
}
