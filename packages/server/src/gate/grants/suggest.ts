import { type GrantSuggestion, isCountersignError, type JsonObject, MAX_WHEN_CHARS, type Principal } from '@countersign/core'
import { type ActionRow, actions, stored, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { requirementsOf } from '../decide/rights.ts'
import type { GateDeps } from '../gate.ts'
import { callOf } from '../policy.ts'
import { findVisibleAction, visibleAmong } from '../read/visible.ts'
import { coversCall } from './covers-call.ts'
import { requireGrantor, whyNeverGranted, whyNoGrantor } from './grants.ts'
import { narrowRule } from './narrow-rule.ts'

/** The number of latest calls that are compared. */
const LOOK_BACK = 50

const REFUSED = new Set<ActionRow['state']>(['declined', 'expired', 'cancelled'])

/**
 * Returns the grants that could replace approving calls like this one: exactly these arguments, or a narrow rule, each with the number of
 * latest calls that it would have covered. Only calls that the caller may see are compared.
 * @throws CountersignError `not_found`.
 */
export async function suggestGrant(
  { store, tools, refreshTool, clock }: GateDeps,
  actionId: string,
  { principal }: Caller,
): Promise<GrantSuggestion> {
  const nowMs = clock.nowMs()
  const { tool: name } = await store.read(() => findVisibleAction(principal, actionId, nowMs))
  await refreshTool?.(name)
  return store.read(function* () {
    const row = yield* findVisibleAction(principal, actionId, nowMs)
    const found = yield* actions.askedBefore.all({ ...row, limit: LOOK_BACK })
    // A rule is made of what was in the arguments.
    const actionIds = found.map(({ id }) => id)
    const visible = yield* visibleAmong(principal, actionIds, nowMs)
    const earlier = found.filter(({ id }) => visible.has(id))
    const of = earlier.length
    const exact = { matched: earlier.filter((other) => other.arguments === row.arguments).length, of }
    const tool = tools.byName(row.tool)
    const refusal =
      (yield* refusalOf(row, principal, nowMs)) ??
      whyNeverGranted({ requires: requirementsOf(row), risk: stored.riskOf(row).level }) ??
      (tool ? null : `the tool ${row.tool} is no longer configured`)
    if (!tool || refusal !== null) return { refusal, exact, rule: null }
    const calls = [row, ...earlier.filter(({ state }) => !REFUSED.has(state))].map(argumentsOf)
    const when = tool.grantRules ? tool.grantRules.suggest(calls) : narrowRule(calls)
    if (when === undefined || when.length > MAX_WHEN_CHARS) return { refusal, exact, rule: null }
    const call = yield* callOf(row, tool, nowMs)
    const matching = earlier.filter((other) => coversCall(tool, when, { ...call, arguments: argumentsOf(other) }))
    // A rule that would have allowed what somebody refused is not narrow.
    const fits = coversCall(tool, when, call) && !matching.some(({ state }) => REFUSED.has(state))
    return { refusal, exact, rule: fits ? { when, matched: matching.length, of } : null }
  })
}

function* refusalOf(row: ActionRow, principal: Principal, nowMs: number): Tx<string | undefined> {
  try {
    yield* requireGrantor(principal)
  } catch (error) {
    if (isCountersignError(error) && error.code === 'forbidden') return error.message
    throw error
  }
  return yield* whyNoGrantor(row, principal, nowMs)
}

const argumentsOf = (row: Pick<ActionRow, 'arguments'>): JsonObject => stored.argumentsOf(row)
