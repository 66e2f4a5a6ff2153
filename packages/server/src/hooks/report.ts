import { isCountersignError, type JsonValue } from '@countersign/core'
import { HOST_NAMES, isOwnAffair } from '../coding-agent/index.ts'
import type { Caller } from '../gate/index.ts'
import type { HttpDeps } from '../http/app.ts'
import type { ActionRow } from '../store/index.ts'
import { findOpenOf, findReported, runOf, toGateCall } from './find-call.ts'
import type { Holders } from './holders.ts'
import type { HookEvent } from './shapes/index.ts'
import type { Report } from './shapes/shape.ts'

type Deps = Pick<HttpDeps, 'store' | 'gate' | 'tools' | 'log' | 'clock'> & { holders: Holders }
type ReportEvent = Extract<HookEvent, { kind: 'report' }>
type Who = Omit<Caller, 'once'>

/** As much of a host's report is kept. */
const MAX_REPORT_CHARS = 100_000
const MAX_ERROR_CHARS = 1_500

/**
 * Stores what a host says came of a call. A call that ran while people were still asked here was answered at the host: its action is
 * withdrawn, so that a later approval has nothing left to approve. One that ran although it was refused or taken back keeps its end, and
 * its outcome says so. A report of a failure does not show that anything ran, unless it has an exit code: some hosts send one for a call that
 * was denied. A call that was denied because nobody had decided in time still waits for approval after such a report.
 */
export async function takeReport(deps: Deps, { call, session, callId, report }: ReportEvent, caller: Who): Promise<void> {
  if (isOwnAffair(call)) return
  const row = await findReported(deps.store, toGateCall(deps.tools.all(), call, session, callId), caller.principal.id, deps.clock.nowMs())
  if (!row) return
  const { id, state, epoch } = row
  const host = HOST_NAMES[call.host]
  const ran = 'ok' in report ? report.ok : report.ran
  const noteRun = async () => {
    if (ran === undefined) return
    deps.log.warn({ actionId: id, state, host: call.host }, 'hook.ran_without_approval')
    await ignoreLate(deps.gate.noteRanElsewhere(id, { ranBy: host, report: cutReport(ran) }, caller))
  }
  if (state === 'proposed' || state === 'approved') {
    const isBareFailure = 'failed' in report && ran === undefined
    // The host has its denial, and people may still decide: the agent was told to make the same call again.
    if (isBareFailure && !deps.holders.isHeld(id)) return
    const how = isBareFailure ? errorOf(host, report).message : `it was allowed in ${host}`
    await ignoreLate(deps.gate.withdraw(id, { reason: `answered elsewhere: ${how}` }, caller))
    await noteRun()
  } else if (state === 'executing' || state === 'outcome_unknown') {
    const body = 'ok' in report ? { epoch, output: { ranBy: host, report: cutReport(report.ok) } } : { epoch, error: errorOf(host, report) }
    await ignoreLate(deps.gate.takeClientResult(id, body, caller))
  } else if (state !== 'succeeded' && state !== 'failed') {
    await noteRun()
  }
}

const errorOf = (host: string, report: Exclude<Report, { ok: JsonValue }>) =>
  'failed' in report
    ? {
        kind: 'refused' as const,
        message: `${host} ${report.ran === undefined ? '' : 'ran it and '}reports a failure: ${cutText(report.failed)}`,
      }
    : { kind: 'ambiguous' as const, message: `${host} ${cutText(report.unknown)}` }

/** Closes what a session leaves behind: nobody waits for it any more, and nobody will say what came of it. */
export async function endSession(
  deps: Deps,
  { host, session, parks }: { host: string; session: string; parks: boolean },
  caller: Who,
): Promise<void> {
  const rows = await findOpenOf(deps.store, runOf(host, session), caller.principal.id)
  for (const row of rows.filter(({ state }) => state === 'executing' || !parks)) await ignoreLate(endOne(deps, row, caller))
}

function endOne({ gate }: Deps, { id, state, epoch }: ActionRow, caller: Who): Promise<unknown> {
  if (state !== 'executing') return gate.withdraw(id, { reason: 'the session of the agent ended' }, caller)
  const message = 'The session of the agent ended before its host said what came of this.'
  return gate.takeClientResult(id, { epoch, error: { kind: 'ambiguous', message } }, caller)
}

/** Somebody else moved it meanwhile: then it stays as it is. */
async function ignoreLate(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isCountersignError(error) || error.code === 'internal') throw error
  })
}

function cutReport(report: JsonValue): JsonValue {
  const text = JSON.stringify(report)
  return text.length <= MAX_REPORT_CHARS ? report : `${text.slice(0, MAX_REPORT_CHARS).toWellFormed()}… (cut)`
}

function cutText(text: string): string {
  const said = text.trim() || 'it says nothing more'
  return said.length <= MAX_ERROR_CHARS ? said : `${said.slice(0, MAX_ERROR_CHARS).toWellFormed()}…`
}
