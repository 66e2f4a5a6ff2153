import {
  Action,
  type ArgumentCheck,
  canonicalJson,
  checkJson,
  DeclineReasons,
  type Effect,
  type ExecuteContext,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type Preview,
  type PreviewField,
  type Tool,
  ToolError,
  type Verification,
  type VerifyContext,
} from '@countersign/core'
import { z } from 'zod'
import { readCacheFor } from './cache-for.ts'
import { credentialOf } from './http/credential.ts'
import { networkError } from './http/network-error.ts'
import { toArgumentIssues, zodFindings } from './schema/issues.ts'
import { openJsonSchema } from './schema/json-schema.ts'
import { costFault } from './schema/schema-cost.ts'
import { unnamedMembers } from './schema/unnamed.ts'
import { readSettlesWithin } from './settles-within.ts'
import { byClient, executorOf, plainDescription, type ToolDraft, valuesOf } from './tool-draft.ts'

const MAX_OUTPUT_BYTES = 1_000_000
/** A timer that should run for longer runs at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/**
 * The preview of a tool written in code: fields alone, or with a headline of names and values that were read. A decision is bound to the
 * headline; put texts of others in quotes with `asTitle`.
 */
export type CodedPreview = PreviewField[] | { fields: PreviewField[]; headline?: string }

/** The definition of a tool written in code, besides its input. */
export interface ToolDefinition<Args> {
  /** Letters, digits, `_`, `-` and `.`; the group's name is put before it. */
  name: string
  /** For the model: what the tool does and when to use it. */
  description: string
  /** Whether the tool changes anything. There is no default, because a forgotten one must not let a write run as a read. */
  effect: Effect
  /** Words for the card, from the real arguments. Default, and where it throws or returns no text: `Call <name> with N arguments`. */
  describe?(args: Args): string
  /**
   * Returns what would change, read now. It runs again before the action starts: if an `oldValue` differs then, people decide again with
   * the new values. Throws a `ToolError` with `impossible: true` for a call that cannot be done: the agent gets its message at once, and
   * nobody is asked. With `headline` the card's title contains what was read, while `describe` has only the arguments.
   */
  preview?(args: Args, signal: AbortSignal): CodedPreview | Promise<CodedPreview>
  /**
   * Returns what must be the same when the action starts, as JSON: a version, a balance, whatever the decision rests on. It is read with
   * the preview and again before the start. Default: the old values of `preview`.
   */
  precondition?(args: Args, signal: AbortSignal): JsonValue | Promise<JsonValue>
  /**
   * Does it. Returns JSON (nothing counts as `null`). Throws `ToolError` with what is known of the effect: `unreachable` when nothing was
   * sent, `refused` when the service did nothing. After any other error, whatever `fetch` says of it, the outcome of a write is unknown:
   * the code may have done something before.
   */
  execute(args: Args, context: ExecuteContext): unknown
  /**
   * Finds out the outcome of an attempt whose answer was lost, by reading only; for writes whose target does not recognise a repeat. `{
   * done: false }` means that it was not found. The request may still be in progress, so this settles nothing: the server asks again for as
   * long as `settlesWithin` says. `{ done: false, authoritative: true }` means that it did not happen and will not: the action has failed.
   * An error, and any other answer, counts as `'unknown'`.
   */
  verify?(args: Args, context: VerifyContext): Verification | Promise<Verification>
  /**
   * With `verify`: for so long after an attempt was lost its effect may still come, as ISO 8601 (`PT5M`) or in ms. The server asks again
   * until then by itself. At least `timeoutMs`. Default 5 minutes, or `timeoutMs` where that is longer.
   */
  settlesWithin?: string | number
  /** Reasons for a decline that people choose from on the card. At most 8 of 80 characters. A policy rule may name others. */
  declineReasons?: readonly string[]
  /** A link for people to what was changed. */
  resultUrl?(args: Args, output: JsonValue): string | undefined
  /**
   * True when a repeated send with the same idempotency key runs once. Default: true for reads, false for writes. A service must know a key
   * for a day at least: 20 hours after its first use nothing is sent again under it by itself.
   */
  idempotent?: boolean
  /** For a tool that a client carries out see {@link ClientToolDefinition}. */
  executor?: 'server'
  /** From 1 to 2,147,483,647. Default 15,000; 60,000 for a client, whose claim ends then. */
  timeoutMs?: number
  /**
   * Only for reads: for so long (`PT30S`) an identical call in the same session is given the result again, without asking the target. A
   * write of the session to the same destination ends it.
   */
  cacheFor?: string
  /**
   * The secrets that its code uses, by name: `{ token: process.env.PAYMENTS_TOKEN }`. Another value after a decision makes another action,
   * and a value is removed from every result and error. An empty one is refused.
   */
  credentials?: Readonly<Record<string, string>>
}

/** A tool carried out by the client that claims its action and knows by the tool's name what to do. None of its code runs here. */
export interface ClientToolDefinition<Args> extends Omit<ToolDefinition<Args>, 'execute' | 'executor'> {
  executor: 'client'
}

type AnyDefinition<Args> = ToolDefinition<Args> | ClientToolDefinition<Args>
/** The definition as it may have been written where nothing checked these types. */
type WrittenDefinition = Omit<ClientToolDefinition<JsonObject>, 'executor'> & {
  executor?: Tool['executor']
  execute?: ToolDefinition<JsonObject>['execute']
}

/** A tool made by {@link defineTool}, ready for a `{ tools: [...] }` group of the configuration. */
export type CodedTool = Omit<ToolDraft, 'destination' | 'definition'> & { readonly secrets: readonly string[] }

/**
 * Defines a tool in code.
 *
 * With a Zod object the parsed output becomes the arguments: defaults are filled in and coercions done before anything is stored, shown or
 * decided, so those are the bytes that `execute` gets. This requires that parsing the output again changes nothing, so transforms and
 * values that are not JSON (dates, bigints) are refused here. An argument that the schema does not name is refused, in nested objects
 * too, unless the object is declared loose. With a JSON Schema the arguments pass unchanged.
 *
 * @throws Error in plain words when the definition is unusable.
 * @example
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Refunds an order.',
 *   input: z.object({ orderId: z.string(), cents: z.int().positive() }),
 *   effect: 'write',
 *   describe: ({ orderId, cents }) => `Refund ${cents / 100} EUR of order ${orderId}`,
 *   execute: ({ orderId, cents }, { idempotencyKey }) => payments.refund(orderId, cents, idempotencyKey),
 * })
 */
export function defineTool<Input extends z.ZodObject>(definition: AnyDefinition<z.output<Input>> & { input: Input }): CodedTool
export function defineTool(definition: AnyDefinition<JsonObject> & { input: JsonSchema }): CodedTool
export function defineTool(definition: AnyDefinition<never> & { input: z.ZodObject | JsonSchema }): CodedTool {
  const { input, ...rest } = definition
  // Sound because every argument object that reaches these functions went through `check`, which yields exactly the input's type.
  const tool = rest as unknown as WrittenDefinition
  if (tool.effect !== 'read' && tool.effect !== 'write') throw new Error(`tool ${tool.name}: effect must be 'read' or 'write'`)
  if (tool.effect === 'read' && tool.verify) throw new Error(`tool ${tool.name}: verify is for writes: a read leaves nothing to find out`)
  const { inputSchema, check } = openInput(tool.name, input)
  const { resultUrl, verify, execute } = tool
  const preview = previewOf(tool)
  const { executor, timeoutMs } = executorOf(tool)
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LONGEST_TIMEOUT_MS)
    throw new Error(`tool ${tool.name}: timeoutMs must be a whole number from 1 to ${LONGEST_TIMEOUT_MS}`)
  const credentials = openCredentials(tool)
  if (executor === 'client' && execute) throw new Error(`tool ${tool.name}: a client carries it out, no code here: leave out execute`)
  if (executor === 'server' && !execute) throw new Error(`tool ${tool.name}: execute is missing`)
  const cacheForMs = readCacheFor(tool.cacheFor, tool.effect, (words) => {
    throw new Error(`tool ${tool.name}: cacheFor ${words}`)
  })
  const settlesWithinMs = readSettlesWithin(tool.settlesWithin, { timeoutMs, canLook: verify !== undefined }, (words) => {
    throw new Error(`tool ${tool.name}: settlesWithin ${words}`)
  })
  const declineReasons = openReasons(tool)
  return {
    name: tool.name,
    description: tool.description,
    effect: tool.effect,
    inputSchema,
    executor,
    idempotent: tool.idempotent ?? tool.effect === 'read',
    timeoutMs,
    ...(cacheForMs !== undefined && { cacheForMs }),
    ...(settlesWithinMs !== undefined && { settlesWithinMs }),
    ...(declineReasons && { declineReasons }),
    credential: credentialOf(credentials),
    secrets: Object.values(credentials),
    check,
    describe: (args) => describeCall(tool, args),
    ...(preview && { preview }),
    execute: execute ? (args, context) => runCode(tool, execute, args, context) : byClient(tool.name),
    ...(verify && { verify: async (args: JsonObject, context: VerifyContext) => toVerification(await verify(args, context)) }),
    ...(resultUrl && { resultUrl: (args: JsonObject, output: JsonValue) => resultUrl(args, output) }),
  }
}

/** A variable of the environment that is not set is undefined, whatever the type says. */
function openCredentials({ name, credentials = {} }: Pick<WrittenDefinition, 'name' | 'credentials'>): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries<unknown>(credentials)) {
    if (typeof value !== 'string' || value === '') throw new Error(`tool ${name}: the credential ${key} is empty: is its variable set?`)
  }
  return credentials
}

function openReasons({ name, declineReasons }: Pick<WrittenDefinition, 'name' | 'declineReasons'>): DeclineReasons | undefined {
  const read = DeclineReasons.optional().safeParse(declineReasons)
  if (read.success) return read.data
  throw new Error(`tool ${name}: declineReasons: ${read.error.issues[0]?.message ?? 'they cannot be read'}`)
}

/** True for what {@link defineTool} made (of any copy of this package). */
export const isCodedTool = (value: unknown): value is CodedTool =>
  typeof value === 'object' &&
  value !== null &&
  ['check', 'describe', 'execute'].every((key) => typeof Reflect.get(value, key) === 'function')

function openInput(name: string, input: z.ZodObject | JsonSchema): { inputSchema: JsonSchema; check: (args: JsonObject) => ArgumentCheck } {
  const unusable = unusableInput(input)
  if (unusable !== undefined) throw new Error(`tool ${name}: its input ${unusable}: give it z.object({ … }) of Zod 4, or a JSON Schema`)
  try {
    if (!isZod(input)) {
      const fault = costFault(input)
      if (fault !== undefined) throw new Error(fault)
      return { inputSchema: input, check: openJsonSchema(input) }
    }
    const schema = input.def.catchall === undefined ? input.strict() : input
    // Only the output side refuses transforms and values that JSON cannot hold; the input side is what the model has to write.
    z.toJSONSchema(schema, { io: 'output' })
    const { $schema: _, ...inputSchema } = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))) as JsonSchema
    return { inputSchema, check: (args) => checkZod(schema, args) }
  } catch (error) {
    throw new Error(`tool ${name}: its input ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/**
 * Returns what is wrong with an input that is neither a Zod object nor a JSON Schema. A configuration runs without a type check, and the
 * objects of some libraries would pass for a JSON Schema that takes any arguments.
 */
function unusableInput(input: unknown): string | undefined {
  if (input === undefined || input === null) return 'is missing'
  const { _zod, _def, '~standard': standard, strict } = input as Record<string, unknown>
  if (_zod !== undefined) return typeof strict === 'function' ? undefined : 'is no z.object of zod'
  const vendor = (standard as { vendor?: unknown } | undefined)?.vendor
  if (vendor === 'zod' || _def !== undefined) return 'is a schema of Zod 3'
  return vendor === undefined ? undefined : `is a schema of ${vendor}`
}

const isZod = (input: z.ZodObject | JsonSchema): input is z.ZodObject => '_zod' in input

function checkZod(schema: z.ZodObject, args: JsonObject): ArgumentCheck {
  const first = schema.safeParse(args, { reportInput: true })
  if (!first.success) return { ok: false, issues: toArgumentIssues(zodFindings(first.error)) }
  const dropped = unnamedMembers(schema, args)
  if (dropped.length > 0) return { ok: false, issues: toArgumentIssues(dropped) }
  const value = JSON.parse(JSON.stringify(first.data)) as JsonObject
  const again = schema.safeParse(value)
  // A retry or an edit checks the stored arguments again; a schema that changes its own output would then run other bytes than were approved.
  if (again.success && canonicalJson(JSON.parse(JSON.stringify(again.data))) === canonicalJson(value)) return { ok: true, value }
  return {
    ok: false,
    issues: [{ path: '', message: "The tool's input schema changes what it already accepted, so it cannot be approved." }],
  }
}

/** Words for the card: code that fails to describe a call must not fail the call. */
function describeCall({ name, describe }: Pick<WrittenDefinition, 'name' | 'describe'>, args: JsonObject): string {
  try {
    const words: unknown = describe?.(args)
    if (typeof words === 'string' && words.trim() !== '') return words.toWellFormed()
    // Nobody waits for an async one; a rejection that nobody handles would end the server.
    if (words instanceof Promise) words.catch(() => {})
  } catch {
    // The arguments are on the card in any case.
  }
  return plainDescription(name, args)
}

/** The shape of a preview. It is checked because the code of a configuration runs without a type check. */
const Shown = z.object({ fields: Action.shape.preview.unwrap(), headline: z.string().optional() })

function previewOf({ preview, precondition }: WrittenDefinition): CodedTool['preview'] {
  if (!preview && !precondition) return undefined
  return async (args, signal): Promise<Preview> => {
    // The precondition is read first: a change between the two reads is then noticed later, and would be missed in the other order.
    const rests = await precondition?.(args, signal)
    const shown = asWritten((await preview?.(args, signal)) ?? [])
    return {
      ...shown,
      precondition: precondition ? copyOf(rests) : valuesOf(shown.fields),
    }
  }
}

/** Returns what is shown and hashed: the written values, because code may give others. A date has no members, so that all dates would be alike. */
export function asWritten(shown: CodedPreview): Pick<Preview, 'fields' | 'headline'> {
  const { fields, headline } = Shown.parse(
    copyOf(Array.isArray(shown) ? { fields: shown } : { fields: shown.fields, headline: shown.headline }),
  )
  // Code may cut a text in the middle of a character, which has no canonical form to be hashed.
  return { fields, ...(headline !== undefined && { headline: headline.toWellFormed() }) }
}

export const copyOf = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value ?? null))

async function runCode(
  tool: Pick<WrittenDefinition, 'name' | 'effect'>,
  execute: ToolDefinition<JsonObject>['execute'],
  args: JsonObject,
  context: ExecuteContext,
): Promise<JsonValue> {
  try {
    return toJson(await execute(args, context))
  } catch (error) {
    throw readFailure(error, tool, context.signal)
  }
}

/** The effect has happened: whatever the code returned, this must not turn it into a failure. */
function toJson(output: unknown): JsonValue {
  try {
    const written = checkJson(JSON.parse(JSON.stringify(output ?? null)), { maxBytes: MAX_OUTPUT_BYTES })
    return written.ok ? written.value : { note: `The tool finished, but its result was left out: ${written.reason}.` }
  } catch {
    return { note: 'The tool finished, but its result is not JSON and was left out.' }
  }
}

/** Only the answers of the port are believed, whatever the code's types say. */
function toVerification(found: unknown): Verification {
  if (typeof found !== 'object' || found === null || !('done' in found)) return { done: 'unknown' }
  if (found.done === true) return { done: true, ...('output' in found && found.output !== undefined && { output: toJson(found.output) }) }
  if (found.done !== false) return { done: 'unknown' }
  return 'authoritative' in found && found.authoritative === true ? { done: false, authoritative: true } : { done: false }
}

function readFailure(error: unknown, { name, effect }: Pick<WrittenDefinition, 'name' | 'effect'>, signal: AbortSignal): unknown {
  if (error instanceof Error && error.name === 'ToolError') return error
  if (signal.aborted) {
    return new ToolError('ambiguous', `${name} was stopped before it finished. Whether it acted is not known.`, { cause: error })
  }
  const known = networkError(error, `The service behind ${name}`)
  // One call of the code found no target. Only the code knows what it did before that call, and reports it with a `ToolError`.
  if (known?.kind !== 'unreachable' || effect === 'read') return known ?? error
  return new ToolError('ambiguous', `A service behind ${name} could not be reached. What ${name} had done before that is not known.`, {
    cause: error,
  })
}
