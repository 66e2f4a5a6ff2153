import { type Action, type Claim, CountersignError, isCountersignError, type JsonObject, type Principal } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import { CANARY_TOOL, HOST_NAMES, isOwnAffair } from '../coding-agent/index.ts'
import type { Caller } from '../gate/index.ts'
import { waitForAction } from '../gateway/wait-for-action.ts'
import type { HttpDeps } from '../http/app.ts'
import { changedInput, claimKeyOf, requireProposal, toGateCall } from './find-call.ts'
import type { Holders } from './holders.ts'
import { proposeOnce } from './propose-once.ts'
import { endSession, takeReport } from './report.ts'
import type { HookEvent, HookShape, Verdict } from './shapes/index.ts'
import { takeAnswer } from './take-answer.ts'
import { deniedAbout, NOT_DECIDED, otherInput } from './words.ts'

/** Dependencies of the hooks. */
export interface HookDeps extends Pick<HttpDeps, 'store' | 'gate' | 'hub' | 'clock' | 'stopping' | 'tools' | 'log'> {
  holders: Holders
}

export interface HookRequest {
  request: FastifyRequest
  caller: Omit<Caller, 'once'>
  shape: HookShape
  event: HookEvent
  /** How long the answer may take: less than the host's own limit, after which many hosts run the call. */
  limitMs: number
  /** True to park a call with `defer` at the end of that time, where the host can be resumed. */
  parks: boolean
  /** True when whoever asks makes the same request again when the server stops. Default: false. */
  asksAgain?: boolean
  /** Aborts when the host does not want the answer any more. */
  hungUp: AbortSignal
  consoleUrl: string
}

/** A request that waits for people, in whatever words it came. */
type Waiting = Omit<HookRequest, 'shape' | 'event'>

type Ask = Extract<HookEvent, { kind: 'ask' }>

/** The server stops, and the same request is to be made again. */
const LATER = { kind: 'later' } as const

/**
 * Answers a hook. A call that cannot be decided for any reason is denied, with the reason as words for a model: an error would let many
 * hosts run it.
 */
export async function answerHook(deps: HookDeps, hook: HookRequest): Promise<JsonObject> {
  const { event, shape, caller } = hook
  if (event.kind === 'ignored') return {}
  try {
    if (event.kind === 'ask') {
      const verdict = await judge(deps, hook, event)
      return verdict.kind === 'later' ? { decision: 'later' } : shape.answer(event.event, verdict)
    }
    if (event.kind === 'answered') return { ...(await takeAnswer(deps, event, caller)) }
    if (event.kind === 'report') await takeReport(deps, event, caller)
    // A run that parks is resumed: what waits for it stays.
    else await endSession(deps, { ...event, parks: hook.parks }, caller)
    return {}
  } catch (error) {
    if (!isCountersignError(error) || error.code === 'internal') deps.log.error({ error, event: event.event }, 'hook.failed')
    if (event.kind !== 'ask') return {}
    const why = isCountersignError(error) ? error.message : 'Countersign failed while it looked at this call'
    return shape.answer(event.event, { kind: 'deny', reason: `Not allowed: ${why}. Nothing was run.` })
  }
}

/** Agents can read the key of their hook, so it must be one that decides nothing. */
function canaryReason({ kind, name, scopes }: Principal): string {
  if (kind === 'person' && scopes?.includes('decide') !== false)
    return `This is the key of ${name}, a person, and the agent could approve its own calls with it. Make one for the agent: countersign key create --kind agent --role agent --name …`
  return 'Countersign refuses its own canary call: the hook works.'
}

/**
 * Returns the verdict of people and policy about a call, at the latest when the time is up.
 * @throws CountersignError for a call that cannot be proposed: it must not run.
 */
export async function judge(deps: HookDeps, hook: Waiting, ask: Ask): Promise<Verdict | typeof LATER> {
  const { call } = ask
  if (isOwnAffair(call)) return { kind: 'none' }
  const asked = toGateCall(deps.tools.all(), call, ask.session, ask.callId)
  if (call.tool === CANARY_TOOL) {
    // The hook does not work where no call can be proposed.
    requireProposal(asked)
    return { kind: 'deny', reason: canaryReason(hook.caller.principal) }
  }
  const { id, mayRun } = await proposeOnce(deps, asked, hook.caller)
  using _held = deps.holders.hold(id)
  const endsAtMs = deps.clock.nowMs() + hook.limitMs
  for (;;) {
    const decisionMs = Math.max(endsAtMs - deps.clock.nowMs(), 0)
    const action = await waitForAction(deps, hook, id, { decisionMs, resultMs: 0, stop: hook.hungUp, onBeat() {} })
    const startsAtMs = action.state === 'approved' ? startsAtMsOf(action) : 0
    // Until an approval has come into effect, whoever gave it can take it back.
    const isEnded = hook.hungUp.aborted || deps.stopping.aborted
    if (startsAtMs <= deps.clock.nowMs() || startsAtMs > endsAtMs || isEnded) return verdictOf(deps, hook, ask, { action, mayRun })
    await passed(deps, startsAtMs, hook.hungUp)
  }
}

const startsAtMsOf = ({ startsAt }: Action): number => (startsAt === null ? 0 : Date.parse(startsAt))

async function passed({ clock, stopping }: HookDeps, atMs: number, hungUp: AbortSignal): Promise<void> {
  const done = Promise.withResolvers<void>()
  const stop = AbortSignal.any([hungUp, stopping])
  const cancel = clock.after(Math.max(atMs - clock.nowMs(), 1), done.resolve)
  stop.addEventListener('abort', () => done.resolve(), { once: true })
  await done.promise
  cancel()
}

async function verdictOf(
  deps: HookDeps,
  hook: Waiting,
  ask: Ask,
  { action, mayRun }: { action: Action; mayRun: boolean },
): Promise<Verdict | typeof LATER> {
  const { state } = action
  if (state === 'proposed') return undecided(deps, hook, ask, action)
  if (state === 'approved' && startsAtMsOf(action) > deps.clock.nowMs()) {
    // The host asks again: by then the approval has come into effect, or was taken back.
    if (isToAskAgain(deps, hook)) return LATER
    if (hook.parks) return { kind: 'defer' }
  }
  const input = changedInput(ask.call, action.arguments)
  // An earlier hook of the same call may have it: the host asks in two places, and runs it once. What people changed is no permission for another.
  const runsAsApproved = !input || canBeGiven(ask, input)
  const mayHaveIt = state === 'executing' && mayRun && runsAsApproved
  if (mayHaveIt && ask.callId === undefined) return { kind: 'allow', input }
  if (state !== 'approved' && !mayHaveIt) return { kind: 'deny', reason: deniedAbout(action, hook.consoleUrl) }
  // This host cannot be given that input. The changed call stays approved until the agent makes it.
  if (!runsAsApproved) return { kind: 'deny', reason: otherInput(action, input) }
  const claim = await claimFor(deps, hook, ask, action)
  return 'action' in claim ? { kind: 'allow', input } : claim
}

/** Whether the host runs exactly this input once it is in the answer. A field that a person took out is not taken out by a host that merges. */
const canBeGiven = ({ mayEdit, merges, call }: Ask, input: JsonObject): boolean =>
  mayEdit && (merges !== true || Object.keys(call.input).every((field) => Object.hasOwn(input, field)))

/** The claim of the host that runs the action, which an earlier hook of the same call may have got, or why it must not. */
async function claimFor(
  deps: HookDeps,
  { caller, consoleUrl }: Pick<HookRequest, 'caller' | 'consoleUrl'>,
  { callId }: Ask,
  shown: Action,
): Promise<Claim | Extract<Verdict, { kind: 'deny' }>> {
  const once = claimKeyOf(callId, shown, caller.principal.id)
  try {
    return await deps.gate.claim(shown.id, {}, { ...caller, ...(once && { once }) })
  } catch (error) {
    if (!isCountersignError(error)) throw error
    const { action } = error.extra as { action?: Action }
    return { kind: 'deny', reason: action ? deniedAbout(action, consoleUrl) : `Not allowed: ${error.message}. Nothing was run.` }
  }
}

/** Nobody decided in time, or the host does not wait any more. */
async function undecided(deps: HookDeps, hook: Waiting, ask: Ask, action: Action): Promise<Verdict | typeof LATER> {
  if (hook.hungUp.aborted) {
    if (!deps.holders.isHeldByOthers(action.id) && !deps.stopping.aborted) await takeBack(deps, hook, ask, action)
  } else if (isToAskAgain(deps, hook)) return LATER
  else if (hook.parks) return { kind: 'defer' }
  return { kind: 'deny', reason: `${NOT_DECIDED} ${deniedAbout(action, hook.consoleUrl)}` }
}

const isToAskAgain = ({ stopping }: HookDeps, { asksAgain }: Waiting): boolean => asksAgain === true && stopping.aborted

async function takeBack({ gate, log }: HookDeps, { caller }: Pick<HookRequest, 'caller'>, { call }: Ask, { id }: Action): Promise<void> {
  try {
    await gate.withdraw(id, { reason: `${HOST_NAMES[call.host]} no longer waits for the answer` }, caller)
  } catch (error) {
    // People decided meanwhile, or somebody else withdrew it.
    if (!(error instanceof CountersignError)) log.warn({ error, actionId: id }, 'hook.withdraw_failed')
  }
}
