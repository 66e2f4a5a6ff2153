import type { Action, Claim, ClientRequest, ClientResultBody, JsonObject, JsonValue } from '@countersign/core'
import { parseJson, saidFailure } from '@countersign/core/text'
import { isApiError, isUnexplained } from './api-error.ts'
import type { ChangeOptions, Client } from './client.ts'
import { LONGEST_TIMER_MS, untilItWorks } from './reconnect.ts'

/** A client's report about the outcome of an action, without the claim that it refers to. */
type Outcome = { output: unknown } | { error: Extract<ClientResultBody, { error: unknown }>['error'] }

export type CarryOutOptions = {
  /** Take a failed action once more, or one of unknown outcome whose target honours the idempotency key. */
  retry?: boolean
  /** Sends the tool's request; default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /**
   * Carries out what is no request: a tool that is written in code here. Its return value is the result. If it throws, the outcome of a
   * write is unknown, unless it throws a {@link CarryOutError}.
   */
  perform?: (claim: Claim, signal: AbortSignal) => unknown
  /**
   * Ends the wait for the claim, and the request. The outcome is still reported to the server, also that of a hold which it gave meanwhile:
   * the action was not carried out, and has failed.
   */
  signal?: AbortSignal | undefined
}

type Kind = Extract<ClientResultBody, { error: unknown }>['error']['kind']
const KINDS: Readonly<Record<Kind, true>> = { refused: true, unreachable: true, ambiguous: true, broken: true, stale: true }

/**
 * Says what is known of the effect of a function that throws: with `refused` or `unreachable` nothing was done, and the action has failed;
 * with `ambiguous` nobody knows. People and models read the message: plain words, no secrets.
 * @example
 * if (!order) throw new CarryOutError('refused', `There is no order ${orderId}.`)
 */
export class CarryOutError extends Error {
  override readonly name = 'CarryOutError'
  readonly kind: Kind

  constructor(kind: Kind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** True for a {@link CarryOutError} of any copy of this package. */
export const isCarryOutError = (error: unknown): error is CarryOutError =>
  error instanceof Error && error.name === 'CarryOutError' && Object.hasOwn(KINDS, String((error as CarryOutError).kind))

/** For the way back to the server: of the hold, at most this much. */
const REPORT_SHARE = 0.2
const REPORT_MS = 5_000

/**
 * Carries out an approved action of a tool that says `executor: client`: claims it, sends its request with this page's own credentials,
 * once, and tells the server what came of it. Where the answer is lost, so is the outcome: that is said, never guessed and never sent again.
 *
 * @returns The action as it ended: `succeeded`, `failed` or `outcome_unknown`.
 * @throws ApiError `illegal_transition` when somebody else has it; the claim's other refusals; the signal's reason before it was claimed.
 * @example
 * const decided = await client.actions.decide(action.id, { verdict: 'approve', revision: action.revision, digest: action.digest })
 * if (decided.state === 'approved' && decided.executor === 'client') await carryOut(client, decided.id)
 */
export async function carryOut(client: Pick<Client, 'actions'>, actionId: string, options: CarryOutOptions = {}): Promise<Action> {
  const { retry, signal, perform, fetch = globalThis.fetch.bind(globalThis) } = options
  const elapsedMs = startClock()
  signal?.throwIfAborted()
  // One key: when the answer to a claim is lost, the next try gets the same hold.
  const idempotencyKey = crypto.randomUUID()
  let mayHold = false
  const askFor = (options: Pick<ChangeOptions, 'signal'>) =>
    untilItWorks(async () => {
      const isSent = !options.signal?.aborted
      try {
        return await client.actions.claim(actionId, retry ? { retry } : {}, { idempotencyKey, ...options })
      } catch (error) {
        if (isSent && !gaveNoHold(error)) mayHold = true
        throw error
      }
    }, options)
  let claim: Claim
  try {
    claim = await askFor({ ...(signal && { signal }) })
  } catch (error) {
    if (signal?.aborted && mayHold) void giveBack(client, askFor)
    throw signal?.aborted ? signal.reason : error
  }
  const holdMs = Date.parse(claim.holdEndsAt) - Date.parse(claim.action.updatedAt)
  // Counted from before the claim: this clock must never think that the hold lasts longer than the server does.
  const leftMs = Math.floor(holdMs - Math.min(holdMs * REPORT_SHARE, REPORT_MS) - elapsedMs())
  if (signal?.aborted) return report(client, claim, unsent(CANCELLED))
  if (leftMs <= 0) return report(client, claim, unsent('There was no time left to send this.'))
  const deadline = AbortSignal.timeout(Math.min(leftMs, LONGEST_TIMER_MS))
  const ends = signal ? AbortSignal.any([signal, deadline]) : deadline
  return report(client, claim, await (perform ? runCode(perform, claim, ends) : sendRequest(fetch, claim, ends)))
}

const CANCELLED = 'It was cancelled before it began.'
/** How long a cancelled claim is repeated, to give its hold back. */
const GIVE_BACK_MS = 10_000

/**
 * Gives back the hold of a claim whose answer nobody waited for: the server may have given it, and an action that nobody reports would end
 * with an unknown outcome. Errors are ignored: somebody else has the action, or the server is away.
 */
async function giveBack(client: Pick<Client, 'actions'>, askFor: (options: { signal: AbortSignal }) => Promise<Claim>): Promise<void> {
  try {
    await report(client, await askFor({ signal: AbortSignal.timeout(GIVE_BACK_MS) }), unsent(CANCELLED))
  } catch {}
}

/**
 * True where a claim certainly gave no hold: the server refused it, or no connection was made. Otherwise it may have, also behind a proxy
 * that answers in its place. To claim the action only to give it back would fail it for everybody.
 */
function gaveNoHold(error: unknown): boolean {
  if (!isApiError(error)) return false
  const { status } = error
  const isRefusal = (status >= 400 && status < 500) || status === 503 || status === 507
  return isRefusal ? !isUnexplained(error) : isUnsent(error.cause)
}

/** Returns the time since now. The monotonic clock stands still while the machine sleeps, and the time of day may be put back: the longer one counts. */
function startClock(): () => number {
  const [startedMs, startedAt] = [performance.now(), Date.now()]
  return () => Math.max(performance.now() - startedMs, Date.now() - startedAt)
}

const failure = (kind: Kind, message: string): Outcome => ({
  error: { kind, message: message.trim().slice(0, 500).toWellFormed() || 'It said nothing.' },
})
const unsent = (message: string): Outcome => failure('unreachable', message)

async function runCode(perform: NonNullable<CarryOutOptions['perform']>, claim: Claim, signal: AbortSignal): Promise<Outcome> {
  try {
    return { output: asJson(await perform(claim, signal)) }
  } catch (error) {
    if (isCarryOutError(error)) return failure(error.kind, error.message)
    return failure('ambiguous', `${claim.action.tool} crashed while running.`)
  }
}

const NOT_PASSED_ON = { note: 'It was carried out; its answer could not be passed on.' }

/** A result as JSON carries it. One that cannot be written down (a circle) does not take the effect back. */
function asJson(output: unknown): unknown {
  const spell = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
  try {
    return JSON.parse(JSON.stringify(output, spell) ?? 'null', toSafeValue)
  } catch {
    return NOT_PASSED_ON
  }
}

/** The server refuses a body with a number beyond 2^53 or half a character. Numbers become their text, as in answers of services. */
function toSafeValue(_: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? String(value) : value
}

/** Tells the server until it has heard, however long that takes: nobody else knows. */
async function report(client: Pick<Client, 'actions'>, { action, epoch }: Claim, outcome: Outcome): Promise<Action> {
  const idempotencyKey = crypto.randomUUID()
  const tell = (body: Outcome, key: string) =>
    untilItWorks(() => client.actions.result(action.id, { epoch, ...body } as ClientResultBody, { idempotencyKey: key }), {}, true)
  try {
    return await tell(outcome, idempotencyKey)
  } catch (error) {
    // The effect is there whatever its answer looks like: too large, too deep, numbers that JSON cannot carry.
    const isOutput = isApiError(error) && (error.code === 'bad_request' || error.code === 'too_large') && 'output' in outcome
    if (!isOutput) throw error
    return tell({ output: NOT_PASSED_ON }, `${idempotencyKey}.2`)
  }
}

/** Sends the request of a claim once and reads what the service's answer says of the effect. */
async function sendRequest(fetch: typeof globalThis.fetch, claim: Claim, signal: AbortSignal): Promise<Outcome> {
  const { request, action } = claim
  if (request === null) return failure('broken', `This client does not know how to carry out ${action.tool}.`)
  const target = new URL(request.url).origin
  if (globalThis.navigator?.onLine === false) return unsent(`${target} cannot be reached: there is no network.`)
  try {
    const response = await fetch(request.url, requestInit(claim, request, signal))
    const text = await response.text().catch((cause: unknown) => {
      // A refusal stands, whatever became of its words.
      if (response.status < 400 || response.status >= 500) throw cause
      return ''
    })
    if (response.status === 412 && request.ifMatch !== undefined)
      return failure('stale', `${target} changed after it was looked at last, and did nothing (412).`)
    const canVerify = claim.canVerify === true
    return readAnswer({ target, isWrite: action.effect === 'write', canVerify }, response, text)
  } catch (cause) {
    if (isUnsent(cause)) return unsent(`${target} could not be reached. Nothing was sent.`)
    // A browser does not say whether anything was sent.
    const why = signal.aborted ? 'did not answer in time' : 'did not answer'
    return failure('ambiguous', `${target} ${why}. Whether it acted is not known.`)
  }
}

const requestInit = ({ action, idempotencyKey }: Claim, { method, body, ifMatch }: ClientRequest, signal: AbortSignal): RequestInit => ({
  method,
  headers: {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(action.effect === 'write' && { 'idempotency-key': idempotencyKey }),
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
  },
  ...(body !== undefined && { body: JSON.stringify(body) }),
  // The request is made as the person who is signed in at the service.
  credentials: 'include',
  redirect: 'manual',
  cache: 'no-store',
  signal,
})

/**
 * Answers below 500 of a service that may have acted: 301, 302 and 303 say "done, look there", and 408 comes also when what it began takes too
 * long. The server reads the answers to its own calls in the same way.
 */
const MAY_HAVE_ACTED: ReadonlySet<number> = new Set([301, 302, 303, 408])

type Sent = { target: string; isWrite: boolean; canVerify: boolean }

function readAnswer({ target, isWrite, canVerify }: Sent, { status, type }: Response, text: string): Outcome {
  const body = readBody(text)
  const words = wordsOf(typeof body === 'object' && body !== null ? Object(body) : {})
  const tells = `(${status})${words ? `: ${words}` : ''}.`
  // Where a browser hides the status of a redirect, it may have been one of these.
  if (type === 'opaqueredirect' || MAY_HAVE_ACTED.has(status) || status >= 500)
    return failure('ambiguous', `${target} failed ${tells} Whether it acted is not known.`)
  if (status >= 300) return failure('refused', `${target} refused ${tells}`)
  const failed = isWrite ? saidFailure(body, { target, status, wordsOf }) : undefined
  if (failed) return failure(failed.kind, failed.message)
  if (isWrite && canVerify && status === 202) return failure('ambiguous', `${target} accepted it, to carry it out later ${tells}`)
  return { output: text === '' ? { status } : body }
}

function wordsOf({ detail, error, message }: JsonObject): string | undefined {
  return [detail, error, message].find((word) => typeof word === 'string')?.replace(/\.$/, '')
}

/** The caller's own service answers, so nothing bounds the size here; the server bounds what it is told. */
const UNBOUNDED = { maxBytes: Number.POSITIVE_INFINITY, keepsNumbers: true }

/** JSON with the text of each number that no double stands for, such as an id of 64 bits, or else the text: as the server reads its own answers. */
function readBody(text: string): JsonValue {
  const parsed = parseJson(text, UNBOUNDED)
  return parsed.ok ? parsed.value : text
}

/** Node reports this for a connection that was never made. */
const isUnsent = (error: unknown): boolean =>
  error instanceof Error && /^(ECONNREFUSED|ENOTFOUND|EAI_)/.test(String(Object(error.cause).code))
