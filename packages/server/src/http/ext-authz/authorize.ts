import { type Action, type CountersignError, canonicalJson, isCountersignError } from '@countersign/core'
import { isGatewayTool } from '../../ext-authz/index.ts'
import { agentNamed, type Caller, viewAction } from '../../gate/index.ts'
import { evaluateForAll } from '../../policy/index.ts'
import { type ActionRow, actions, newSalt, stored } from '../../store/index.ts'
import type { HttpDeps } from '../app.ts'
import { callIdOf, findEarlier, type GatewayCall, onceKeyOf } from './find-call.ts'
import type { HeldRequest } from './read-request.ts'
import { changed, ended, refused, waits } from './refusals.ts'

type Deps = Pick<HttpDeps, 'store' | 'gate' | 'clock' | 'tools' | 'policies' | 'publicUrl'>
type Who = Omit<Caller, 'once'>

/** The gateway that asks, and what others were told. */
export interface Asking {
  /** True once no answer can reach the gateway. */
  isGone(): boolean
  /** The results that are being stored, by action. */
  results: ReadonlyMap<string, Promise<unknown>>
}

/** A request that passes, once. */
export interface Passed {
  actionId: string
  /** Stores that the gateway has the answer. Until then nobody knows that the request was passed on. */
  report(): Promise<unknown>
}

/** How long people may take where no rule says it, and how long an approval then waits for its request. */
const DEADLINE = 'P1D'

/** So long a request without a key of its own is told again what became of it. After that it is a new request. */
const TOLD_FOR_MS = 10 * 60_000

/**
 * Returns the action under which a request passes. A gateway that is gone uses no approval.
 * @throws CountersignError for a request that does not pass.
 */
export async function authorize(deps: Deps, request: HeldRequest, caller: Who, asking: Asking): Promise<Passed> {
  const call = toCall(deps, request)
  const { principal } = caller
  const policy = await deps.store.read(() => deps.policies.inForce())
  const asked = { tool: call.tool, arguments: call.args, ...agentNamed(undefined, principal), session: null, requesters: [principal] }
  // Only a request that needs approval has an earlier action to find.
  const { verdict, expiresMs } = evaluateForAll(policy, { ...asked, nowMs: deps.clock.nowMs() })
  const timed = { ...call, expiresIn: expiresMs === undefined ? DEADLINE : undefined }
  const earlier = verdict === 'ask' ? await findSettled(deps, call, principal.id, asking) : undefined
  if (asking.isGone()) throw refused('the gateway is gone')
  if (verdict !== 'ask') return passNew(deps, timed, caller)
  const before = earlier && (await continueEarlier(deps, earlier, call, caller))
  if (before !== undefined) return before
  return passNew(deps, timed, caller, earlier?.id ?? '')
}

/** Returns the earlier action of a request, after what its gateway was told is stored. */
async function findSettled({ store }: Deps, call: GatewayCall, principalId: string, { results }: Asking): Promise<ActionRow | undefined> {
  const earlier = await findEarlier(store, call, principalId)
  const result = earlier && results.get(earlier.id)
  if (result === undefined) return earlier
  await result
  return findEarlier(store, call, principalId)
}

/** @throws CountersignError `forbidden` for a request that no tool takes. */
function toCall({ tools }: Deps, { kind, args, idempotencyKey }: HeldRequest): GatewayCall {
  const tool = tools.all().find((one) => isGatewayTool(one, kind))
  if (!tool) throw refused('this server has no tools for gateways: add "tools: { gateway: { ext-authz: {} } }" to its configuration')
  const checked = tool.check(args)
  if (!checked.ok) {
    const [first] = checked.issues
    throw refused(first?.path === '/url' ? first.message : `${first?.path ?? ''} ${first?.message ?? 'it does not fit'}`.trim())
  }
  const argumentsText = canonicalJson(checked.value)
  const callId = callIdOf(tool.name, argumentsText, idempotencyKey)
  return { tool, args: checked.value, argumentsText, callId, isKeyed: idempotencyKey !== undefined }
}

/**
 * @param call With its deadline, where no rule sets one.
 * @param after The action before this one of the same request; undefined where nobody has to find it again.
 */
async function passNew(deps: Deps, call: GatewayCall & { expiresIn: string | undefined }, caller: Who, after?: string): Promise<Passed> {
  const { tool, args, expiresIn } = call
  const input = { tool: tool.name, arguments: args, expiresIn, ...(after !== undefined && { toolCallId: call.callId }) }
  const propose = (key: string) => deps.gate.propose(input, { ...caller, once: onceKeyOf(call, caller.principal.id, key) })
  const first = await propose(after ?? newSalt())
  if (first.state !== 'approved') {
    const row = after === undefined ? undefined : await deps.store.read(() => actions.findAction.first({ id: first.id }))
    if (!row || row.state === first.state) throw notPassed(deps, first)
    // The key was used before, and this is its action: a clock that was ahead gave an earlier action the later id.
    return (await continueEarlier(deps, row, call, caller)) ?? passNew(deps, call, caller, row.id)
  }
  const passed = await pass(deps, first.id, caller)
  if (!isCountersignError(passed)) return passed
  // A grant allowed both of two requests at once, which were one action.
  const second = await propose(newSalt())
  if (second.state !== 'approved') throw notPassed(deps, second)
  return orThrow(await pass(deps, second.id, caller))
}

/** Returns undefined for a request that becomes a new proposal. @throws CountersignError for one that does not pass. */
async function continueEarlier(deps: Deps, row: ActionRow, call: GatewayCall, caller: Who): Promise<Passed | undefined> {
  const { id, state, settled_at } = row
  if (state === 'approved') {
    if (row.arguments !== call.argumentsText) throw changed(row, stored.argumentsOf(row))
    return orThrow(await pass(deps, id, caller))
  }
  if (state === 'proposed' || state === 'executing') throw notPassed(deps, await read(deps, id))
  // An action that needed no approval has no decision to apply.
  if (!stored.wasAsked(row)) return undefined
  const wasRefused = state === 'declined' || state === 'expired' || state === 'cancelled'
  const isTold = wasRefused && Math.abs(deps.clock.nowMs() - (settled_at ?? 0)) < TOLD_FOR_MS
  if (call.isKeyed || isTold) throw notPassed(deps, await read(deps, id))
  return undefined
}

/** Claims an approved action. Returns why its request does not pass. */
async function pass(deps: Deps, id: string, caller: Who): Promise<Passed | CountersignError> {
  try {
    const { epoch } = await deps.gate.claim(id, {}, caller)
    return { actionId: id, report: () => deps.gate.takeClientResult(id, { epoch, output: { passedOnBy: 'the gateway' } }, caller) }
  } catch (error) {
    if (!isCountersignError(error)) throw error
    const { action } = error.extra as { action?: Action }
    if (!action) throw error
    return notPassed(deps, action)
  }
}

function orThrow(passed: Passed | CountersignError): Passed {
  if (isCountersignError(passed)) throw passed
  return passed
}

function notPassed({ publicUrl, clock }: Deps, action: Action): CountersignError {
  if (action.state === 'proposed') return waits(action, publicUrl)
  const startsInMs = action.startsAt === null ? 0 : Date.parse(action.startsAt) - clock.nowMs()
  // Until an approval has come into effect, whoever gave it can take it back.
  if (action.state === 'approved') return waits(action, publicUrl, Math.max(Math.ceil(startsInMs / 1_000), 1))
  return ended(action)
}

const read = ({ store, clock }: Deps, id: string): Promise<Action> =>
  store.read(function* () {
    const row = yield* actions.findAction.first({ id })
    if (!row) throw refused(`${id} is gone`)
    return yield* viewAction(row, { nowMs: clock.nowMs() })
  })
