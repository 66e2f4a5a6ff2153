import type { JsonObject, JsonValue } from '../json/value.ts'
import type { ClientRequest, RiskLevel } from '../wire/action.ts'

export type Effect = 'read' | 'write'
export type Executor = 'server' | 'client'

/** A JSON Schema (2020-12 subset) of an object: what a tool's arguments must look like. */
export type JsonSchema = { [keyword: string]: JsonValue }

/**
 * One changed field: creation has only `newValue`, deletion only `oldValue`, a text that changes in places a `diff` instead of
 * both. With both values alike it says what the change is about.
 */
export interface PreviewField {
  field: string
  oldValue?: JsonValue
  newValue?: JsonValue
  /** A unified diff of what would change in one text, for example a file: applied to the text as it is, it gives the text as it would be. */
  diff?: string
  /**
   * Code of ISO 4217 (`EUR`), where both values are amounts of money: the card writes them as such. They count whole units (`12` and `12.5` are
   * euros), or hundredths where the last word of `field` is `cents` or `minor`.
   */
  currency?: string
  /** Set where `newValue` is what somebody else says about the call (`field` says who), which nothing here has verified. */
  unverified?: true
  /** Set where the row says what is different about the tool, and nothing of what the call would change: the card then shows the arguments. */
  ofTool?: true
}

/** The changes that the call would make, and the state of the target when it was read. */
export interface Preview {
  fields: PreviewField[]
  /**
   * The card's headline with what was read: names, titles and old values, where the arguments hold ids. A decision is bound to it: another
   * headline needs another decision. Default: the result of `describe`.
   */
  headline?: string
  /** The state that must be the same when the action starts, for example the values on the card. Undefined when nothing could have changed. */
  precondition?: JsonValue
  /** Names the version of the target that was read (an ETag), for the call to be held against. */
  version?: string
}

/** One thing wrong with the arguments, at a JSON Pointer (`/items/0/quantity`, empty for the whole). */
export interface ArgumentIssue {
  path: string
  message: string
}

export type ArgumentCheck = { ok: true; value: JsonObject } | { ok: false; issues: ArgumentIssue[] }

/** The attempt that a tool's code executes. */
export interface ExecuteContext {
  actionId: string
  /** The same for every send of one attempt; give it to the target so that it can recognise a repeat. */
  idempotencyKey: string
  /** Aborts at the tool's timeout. */
  signal: AbortSignal
  /** The principal who asked, not the one who approved: an action never uses the approver's rights. */
  principalId: string | undefined
  /** The version of the target that {@link Preview} named when it was read again just before. */
  version?: string | undefined
}

/** The attempt whose outcome is checked; `version` is the version that it required. */
export interface VerifyContext extends Pick<ExecuteContext, 'actionId' | 'idempotencyKey' | 'signal' | 'version'> {
  /** When the action was proposed, in epoch ms: what it may have made is younger, so nothing older has to be looked through. */
  proposedAtMs?: number
}

/**
 * The result of checking an attempt whose answer was lost.
 * - `true`: it happened; `output` is what `execute` would have returned.
 * - `false`: it was not found. This settles nothing while the request may still be in progress. With `authoritative` the target promises
 * that it did not happen and will not.
 * - `'unknown'`: it cannot be determined (now).
 */
export type Verification = { done: true; output?: JsonValue } | { done: false; authoritative?: true } | { done: 'unknown' }

/** The principal that registered a tool, and the definition. */
export interface RegisteredBy {
  /** Id of the principal whose key registered it. */
  ownerId: string
  ownerName: string
  /** SHA-256 (hex) over the definition. */
  hash: string
  claimedEffect: Effect
}

/** How the definition of a tool differs from the one that people accepted. */
export interface ToolChange {
  /** SHA-256 (hex) over the definition as it is now: an acceptance is for this one. */
  hash: string
  /** One field for each part that changed. */
  fields: PreviewField[]
  /** The values that an acceptance stores for a tool of a source: the tool's name there, the hash of the accepted definition, and the new one as text. */
  pin?: { tool: string; was: string; definition: string }
  /** Reads again which definition is accepted: this or another process may have accepted the change. */
  reload?(): Promise<void>
}

/**
 * A tool as the gate and the agent see it, wherever it came from (code, a route table, later MCP and OpenAPI).
 * Functions take arguments that `check` accepted.
 */
export interface Tool {
  /** The name in policy and API: `shop.updateOrderStatus`, or `updateOrderStatus` in an unprefixed group. */
  readonly name: string
  /** The group it belongs to; policy may match `<group>.<name>` of an unprefixed tool too. */
  readonly group: string
  /** The name the model sees: at most 64 characters of `[a-zA-Z0-9_-]`. */
  readonly modelName: string
  readonly description: string
  readonly effect: Effect
  readonly inputSchema: JsonSchema
  readonly executor: Executor
  /** True when the target runs a repeated send with the same idempotency key once, for a day at least after the first one. */
  readonly idempotent: boolean
  readonly timeoutMs: number
  /**
   * With `verify`: for so long after an attempt was lost its effect may still come, so that what is not found until then may be found later.
   * At least {@link timeoutMs}. Default: 5 minutes, or `timeoutMs` where that is longer.
   */
  readonly settlesWithinMs?: number
  /** Of a read: for so long its result is given again to an identical call in the session. */
  readonly cacheForMs?: number
  /** Where the effect lands, for the card and the digest: an origin (`http://127.0.0.1:4400`) or `local`. */
  readonly destination: string
  /**
   * The credential with which the effect happens, for the digest: the names of the secrets and a hash of their values, never a value.
   * `none` for a tool without secrets. Another value after a decision makes another action.
   */
  readonly credential: string
  /**
   * The risk of every call. Default: low for a read, medium for a write. A policy rule that sets a risk replaces it. `isGuess`: derived from
   * the tool's method or name, not declared by anybody.
   */
  readonly risk?: { level: RiskLevel; reason: string; isGuess?: true }
  /** The risk of one call, where it depends on the arguments. It replaces {@link risk}; a policy rule that sets a risk replaces both. */
  assess?(args: JsonObject): { level: RiskLevel; reasons: string[] }
  /** The conditions of grants for later calls, where a condition about the arguments alone is not enough. */
  readonly grantRules?: {
    /** False for a call that no condition covers, whatever it says. */
    mayCover(args: JsonObject): boolean
    /** A condition that every grant made from this call has besides its own, whatever people write: the host of a request, say. */
    binds?(args: JsonObject): string
    /** The narrowest condition for calls like the first of these; undefined when there is none. Default: the same for every tool. */
    suggest(calls: readonly JsonObject[]): string | undefined
  }
  /** Reasons for a decline that people choose from, where the rule that asks has none. Default: the card's own. */
  readonly declineReasons?: readonly string[]
  /**
   * True for a tool of a program that runs it by itself and only asks here whether it may: no model is offered such a tool.
   */
  readonly isHostRun?: boolean
  /**
   * Returns what the program decides by itself inside of arguments that can be edited, by the name of the argument. An edit that changes one
   * of these values is refused. Whole arguments are `readOnly` in the schema. Only for {@link isHostRun}.
   */
  hostDecides?(args: JsonObject): JsonObject
  /**
   * Why every call of the tool needs approval, whatever policy or a grant allows: it is not the tool that people accepted. Undefined for a
   * tool that is.
   */
  readonly caution?: string
  /** Set with {@link caution}: what changed, for the people who may accept it without a call. */
  readonly change?: ToolChange
  /**
   * Set on a tool that an agent registered for itself: only that agent proposes it, nothing that it says of the tool makes policy more
   * permissive, and a rule allows it only if the rule means registered tools.
   */
  readonly registered?: RegisteredBy
  check(args: JsonObject): ArgumentCheck
  /** Words for the card, from the real arguments, where its preview has none: see {@link Preview.headline}. */
  describe(args: JsonObject): string
  /**
   * Returns what would change, read now: before people are asked, and again before the action starts. Undefined when the tool cannot tell.
   * @throws ToolError when the target could not be read. One that is `impossible` refuses the call without asking anybody.
   */
  preview?(args: JsonObject, signal: AbortSignal): Promise<Preview>
  /** @throws ToolError with what is known of the effect; after any other error it is not known whether a write acted. */
  execute(args: JsonObject, context: ExecuteContext): Promise<JsonValue>
  /** Finds out the outcome of an attempt, by reading only. An error counts as `unknown`. */
  verify?(args: JsonObject, context: VerifyContext): Promise<Verification>
  /** The request of a client that executes the action; undefined when the client knows it by the tool's name. */
  clientRequest?(args: JsonObject): ClientRequest
  /** A link for people to what was changed. Only `http:`/`https:` or a path is ever shown. */
  resultUrl?(args: JsonObject, output: JsonValue): string | undefined
}

/**
 * The knowledge about the effect of a failed attempt.
 * - `refused`: the target answered and did nothing (4xx), or our own rules stopped the request.
 * - `unreachable`: nothing was sent (connection refused, name not found).
 * - `ambiguous`: it may or may not have happened (timeout, reset, 5xx, cut body).
 * - `broken`: our own code failed before it sent anything.
 * - `stale`: the target is no longer as the card showed it, and did nothing for that reason (412). People decide again.
 */
export type ToolErrorKind = 'refused' | 'unreachable' | 'ambiguous' | 'broken' | 'stale'

export interface ToolErrorOptions extends ErrorOptions {
  /**
   * Default: true, except for `refused`. False with `ambiguous`: the target accepted the request, so a tool that has `verify` is asked, and
   * nothing is sent again by itself.
   */
  retryable?: boolean
  /**
   * The call is impossible, whoever approves it: what it names does not exist, or it would change nothing. A preview that throws this
   * refuses the call, so the agent gets the reason at once and nobody is asked. Default: false. With `retryable: true` the call is
   * impossible only for now, for example because its target could not be read in time. A new call is refused then, because its card would
   * show nothing of the change; an action that people were shown before goes on waiting.
   */
  impossible?: boolean
  /** How long the target asked not to be called again. Nothing is sent again by itself before that. */
  retryAfterMs?: number | undefined
}

/** How a tool says that it did not succeed. `message` is shown to people and told to the model: plain words, no secrets, no stack. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly kind: ToolErrorKind
  readonly retryable: boolean
  readonly impossible: boolean
  readonly retryAfterMs: number | undefined

  constructor(kind: ToolErrorKind, message: string, options: ToolErrorOptions = {}) {
    super(message, options)
    this.kind = kind
    this.retryable = options.retryable ?? kind !== 'refused'
    this.impossible = options.impossible ?? false
    this.retryAfterMs = options.retryAfterMs
  }
}
