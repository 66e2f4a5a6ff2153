import type { Action, ActionOutcome, Claim } from '@countersign/core'
import { isSameJson } from '@countersign/core/text'
import { isApiError } from '../api-error.ts'
import { CarryOutError, carryOut, isCarryOutError } from '../carry-out.ts'
import { untilItWorks, waitToRetry } from '../reconnect.ts'
import { openProposal, orRefused } from './propose-call.ts'
import type { GateClient, RegisterOption } from './register.ts'

/** The options of all calls through a gate. */
export type GateOptions = {
  /**
   * Names the run or conversation, 1 to 200 characters. Give it wherever tool call ids are only unique within one: the id of a call and this
   * name together say which call it is, also after a restart. Shown on the card.
   */
  run?: string
  /** Where people can read more, shown on the card: http or https. */
  url?: string
  /**
   * Why the agent wants each call, shown on the card as unverified: one text, or a function that returns it. The same call needs the same reason
   * after a restart; with another one it fails with `idempotency_mismatch`.
   */
  reason?: string | ((call: AskedCall) => string | undefined)
  /**
   * Where the server tells how each call ended, also when this process is gone: an address that an admin opened for callbacks. The next start
   * with the same tool call ids goes on from there.
   */
  callback?: string
  /** The group of the tools in the server's configuration, where its names begin with it: `app` for `app.payInvoice`. */
  group?: string
  /** How long people may take, for example `PT1H`. Policy may give them less. */
  expiresIn?: string
  /**
   * Registers the tools with the server under the agent's key, so that its configuration need not declare them. The console shows their
   * descriptions as unverified. Default: the configuration declares them.
   */
  register?: RegisterOption
}

/** One call of a tool. */
export type GatedCall = {
  /** The tool's name in this program. */
  tool: string
  arguments: Readonly<Record<string, unknown>>
  /** For the option `register`. */
  description?: unknown
  /** For the option `register`: JSON Schema, or that of a library which gives it (Zod 4.2 or newer, ArkType, Valibot's `toStandardJsonSchema`). */
  schema?: unknown
  /**
   * The model's id of the call. The same id (in the same run) is the same call: it is asked once and runs once, whatever restarts in
   * between. Without one, or with an empty one, every call is new.
   */
  toolCallId?: string | undefined
  /** Withdraws the action while it waits, and is passed on to `perform`. */
  signal?: AbortSignal | undefined
  /**
   * Carries it out, with the arguments that were approved. Called at most once. If it throws, the outcome of a write is unknown, unless it
   * throws a {@link CarryOutError}.
   */
  perform(args: Readonly<Record<string, unknown>>, how: PerformInput): unknown
}

/** A call as it is proposed. */
export type AskedCall = Omit<GatedCall, 'perform' | 'signal'>

export type PerformInput = {
  /** Aborts with the call, and when the server's hold on the action ends. */
  signal: AbortSignal
  /** Stays the same for one attempt: for services that honour one. */
  idempotencyKey: string
}

/** How a call ended. */
export type GateAnswer<Output = unknown> = {
  /** As of the action, or `refused`: the server did not take the call, and the model can correct it. */
  status: ActionOutcome['status'] | 'refused'
  /** One text to give the model, whatever happened. */
  text: string
  /** Of what succeeded: what the function returned, or the stored result where another process ran it. */
  output?: Output
  /** The arguments that were approved, where they are not those of the proposal. */
  changedArguments?: Readonly<Record<string, unknown>>
  /** Null where the call was refused. */
  actionId: string | null
}

/** A server answers a long poll after at most this. */
const POLL_SECONDS = 50
/** A long poll that ends sooner did not wait: something in between does not let it. */
const SHORT_POLL_MS = 1_000
/** For so long a withdrawal is tried again. */
const WITHDRAW_MS = 10_000
/** Refusals of a claim that say: the action is not what it was, look again. */
const MOVED: ReadonlySet<string> = new Set(['illegal_transition', 'stale_preview', 'busy'])

/**
 * Takes one call through the gate: proposes it, waits for as long as people need, carries it out once it is approved, and reports what came
 * of it. Connections that break are made again. Nothing runs twice: where this process, or another one with the same tool call id, began to
 * carry it out before, this only waits for what came of that.
 * @throws ApiError where the server knows neither tool nor key, or the tool call id was used for another call; the signal's reason.
 */
export async function gatedCall(client: GateClient, call: GatedCall, options: GateOptions = {}): Promise<GateAnswer> {
  const { signal } = call
  signal?.throwIfAborted()
  const propose = await orCancelled(openProposal(client, call, options), signal)
  let proposed: Action | GateAnswer
  try {
    proposed = await untilItWorks(() => orRefused(propose(signal)), { ...(signal && { signal }) })
  } catch (error) {
    // An answer that was lost may have been a yes: the same key finds the action, if there is one.
    if (signal?.aborted) await withdraw(client, propose)
    throw signal?.aborted ? signal.reason : error
  }
  if ('status' in proposed) return proposed
  const { id } = proposed
  try {
    return await settle(client, proposed, call)
  } catch (error) {
    if (signal?.aborted) await withdraw(client, (signal) => client.actions.get(id, {}, { signal }))
    throw signal?.aborted ? signal.reason : error
  }
}

/** Withdraws an action that has not started. Errors are ignored, because nobody waits for this call any more. */
async function withdraw(client: GateClient, find: (signal: AbortSignal) => Promise<Action>): Promise<void> {
  const signal = AbortSignal.timeout(WITHDRAW_MS)
  const idempotencyKey = crypto.randomUUID()
  try {
    await untilItWorks(
      async () => {
        const { id, outcome } = await find(signal)
        if (outcome === null) await client.actions.withdraw(id, { reason: 'The call was cancelled.' }, { signal, idempotencyKey })
      },
      { signal },
      true,
    )
  } catch (error) {
    // It began meanwhile, or the server is away: then it expires, and nothing runs without this program.
    if (!isApiError(error) && !signal.aborted) throw error
  }
}

/** Waits until the action is settled; carries it out here once it is approved and nobody else has it. */
async function settle(client: GateClient, proposed: Action, call: GatedCall): Promise<GateAnswer> {
  const performed: Performed = { proposed: proposed.arguments, did: false, output: undefined }
  let action = proposed
  for (let turns = 0; ; turns++) {
    if (action.outcome) return answerOf(action, action.outcome, performed)
    if (action.state === 'approved' && action.executor === 'client' && !performed.did) {
      const after = await carryOutHere(client, action, call, performed)
      if ('status' in after) return after
      if (after.state !== 'approved') turns = 0
      else await waitToRetry(turns, { ...(call.signal && { signal: call.signal }) })
      action = after
    } else action = await waitForNews(client, action, call.signal)
    call.signal?.throwIfAborted()
  }
}

interface Performed {
  /** The arguments of the proposal, as the server took them: the tool's schema may have filled in defaults. */
  proposed: Action['arguments']
  did: boolean
  output: unknown
  /** How the function ended, once it has. */
  ended?: ActionOutcome
}

/** The action as it is after somebody carried it out, here or elsewhere; the answer where it ran here and the server does not take the report. */
async function carryOutHere(client: GateClient, action: Action, call: GatedCall, performed: Performed): Promise<Action | GateAnswer> {
  const { id } = action
  const options = { ...(call.signal && { signal: call.signal }) }
  try {
    // The call's own signal does not end the claim: an answer that is lost could have been a hold, which nobody would give back.
    return await orCancelled(carryOut(client, id, { perform: performOnce(call, performed) }), call.signal, performed)
  } catch (error) {
    if (!isApiError(error)) throw error
    if (MOVED.has(error.code)) return error.action ?? (await untilItWorks(() => client.actions.get(id, {}, options), options, true))
    const { ended } = performed
    // The key ended meanwhile, or the action was archived. What was done is done: an error would say that it was not.
    if (!ended) throw error
    const text = `${ended.text} The server did not take what came of this: ${error.detail}`
    return answerOf(action, { ...ended, text }, performed)
  }
}

const performOnce = (call: GatedCall, performed: Performed) => async (claim: Claim, holdEnds: AbortSignal) => {
  if (call.signal?.aborted) throw new CarryOutError('unreachable', 'The call was cancelled before it began.')
  const { action, idempotencyKey } = claim
  const signal = call.signal ? AbortSignal.any([call.signal, holdEnds]) : holdEnds
  performed.did = true
  try {
    performed.output = await call.perform(action.arguments, { signal, idempotencyKey })
  } catch (error) {
    const words = `${call.tool} threw: ${error instanceof Error ? error.message : String(error)}`
    const thrown = isCarryOutError(error) ? error : new CarryOutError('ambiguous', words, { cause: error })
    performed.ended = endOf(action, thrown)
    throw thrown
  }
  performed.ended = { status: 'succeeded', text: `This was carried out (${action.id}).` }
  return performed.output
}

const endOf = ({ id, effect }: Action, { kind, message }: CarryOutError): ActionOutcome =>
  kind === 'ambiguous' && effect === 'write'
    ? { status: 'outcome_unknown', text: `It is not known whether this was carried out (${id}). Do not do it again or in another way.` }
    : { status: 'failed', text: `This failed (${id}): ${message.replace(/\.$/, '')}.` }

/** Stops waiting when the call is cancelled, but never for what has begun. */
async function orCancelled<T>(working: Promise<T>, signal: AbortSignal | undefined, performed?: Readonly<Performed>): Promise<T> {
  if (!signal) return working
  const cancelled = Promise.withResolvers<never>()
  const cancel = () => {
    if (!performed?.did) cancelled.reject(signal.reason)
  }
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await Promise.race([working, cancelled.promise])
  } finally {
    signal.removeEventListener('abort', cancel)
    // A claim that comes later finds the call cancelled, and tells the server.
    working.catch(() => undefined)
  }
}

/** The action after its next change, or as it is after a while. */
export async function waitForNews(client: GateClient, { id, state }: Action, signal?: AbortSignal): Promise<Action> {
  const options = { ...(signal && { signal }) }
  const until = state === 'proposed' ? 'decided' : 'settled'
  const startedMs = performance.now()
  const action = await untilItWorks(() => client.actions.get(id, { waitSeconds: POLL_SECONDS, until }, options), options, true)
  if (action.state === state && performance.now() - startedMs < SHORT_POLL_MS) await waitToRetry(0, options)
  return action
}

function answerOf(
  { id, revision, revised, arguments: args, result }: Action,
  outcome: ActionOutcome,
  { proposed, did, output }: Performed,
): GateAnswer {
  return {
    ...outcome,
    actionId: id,
    ...(outcome.status === 'succeeded' && { output: did ? output : result }),
    // Most revisions leave them as they are: they are made where a shown value or the policy changed.
    ...(revision > 1 && revised !== null && !isSameJson(args, proposed) && { changedArguments: args }),
  }
}
