import type { RiskLevel } from '../wire/action.ts'
import { durationMs } from '../wire/duration.ts'
import type { PolicyResult, Requirements } from './evaluate.ts'

const STRENGTH = { allow: 0, ask: 1, deny: 2 } as const
const RISK_ORDER: readonly RiskLevel[] = ['low', 'medium', 'high', 'critical']

/** The higher of two risks. */
export const higherRisk = (one: RiskLevel, other: RiskLevel): RiskLevel =>
  RISK_ORDER.indexOf(one) >= RISK_ORDER.indexOf(other) ? one : other

/**
 * Combines two sets of requirements: the larger quorum, the smaller decline quorum, and voters who hold a role from each list.
 * @example
 * strictestRequirements({ ...DEFAULT_REQUIREMENTS, quorum: 2 }, { ...DEFAULT_REQUIREMENTS, roles: ['finance'] })
 * // { quorum: 2, declineQuorum: 1, roles: ['approver'], alsoRoles: [['finance']], notRequester: false }
 */
export function strictestRequirements(one: Requirements, other: Requirements): Requirements {
  const [roles = [], ...alsoRoles] = rolesOfBoth([one.roles, ...(one.alsoRoles ?? []), other.roles, ...(other.alsoRoles ?? [])])
  return {
    quorum: Math.max(one.quorum, other.quorum),
    declineQuorum: Math.min(one.declineQuorum, other.declineQuorum),
    roles,
    ...(alsoRoles.length > 0 && { alsoRoles }),
    notRequester: one.notRequester || other.notRequester,
    ...longerGrace(one.grace, other.grace),
  }
}

function longerGrace(one: string | undefined, other: string | undefined): { grace?: string } {
  const grace = (durationMs(one ?? '') ?? 0) >= (durationMs(other ?? '') ?? 0) ? one : other
  return grace === undefined ? {} : { grace }
}

/** Lists of roles of which a voter needs one each, without those that follow from another; always in the same order. */
function rolesOfBoth(lists: readonly (readonly string[])[]): string[][] {
  const [first] = lists
  const unique = new Map(lists.map((list) => [JSON.stringify([...new Set(list)].sort()), list]))
  if (unique.size === 1 && first) return [[...first]]
  const sorted = [...unique.keys()].sort().map((text): string[] => JSON.parse(text))
  return sorted.filter((list) => !sorted.some((other) => other !== list && other.every((role) => list.includes(role))))
}

/**
 * One answer out of several about the same call, at least as strict as each: deny beats ask beats allow, and where several ask, what all of
 * them ask for. The order makes no difference.
 * @param ownRisk The risk of the tool, which counts where a rule names none.
 * @throws Error without any result.
 */
export function strictestResult(results: readonly PolicyResult[], ownRisk: RiskLevel): PolicyResult {
  const [first] = results
  if (!first) throw new Error('there is at least one answer to choose from')
  const texts = new Set(results.map((result) => JSON.stringify(result)))
  if (texts.size === 1) return first
  const distinct = [...texts].sort().map((text): PolicyResult => JSON.parse(text))
  const verdict = distinct.map((result) => result.verdict).reduce((one, other) => (STRENGTH[other] > STRENGTH[one] ? other : one))
  const chosen = distinct.filter((result) => result.verdict === verdict)
  const [named = first] = chosen
  const { risk: _risk, expiresMs: _expires, extend: _extend, remindMs: _remind, escalateMs: _escalate, escalateTo: _to, ...said } = named
  return {
    ...said,
    reason: [...new Set(chosen.map(({ reason }) => reason))].join('; '),
    requires: chosen.map(({ requires }) => requires).reduce(strictestRequirements),
    ...riskOfAll(distinct, ownRisk),
    ...earliest('expiresMs', chosen),
    ...shortestExtension(chosen),
    ...earliest('remindMs', chosen),
    ...escalationOfAll(chosen),
  }
}

/**
 * One answer of rules that ask, where it is not known which of them counts: votes, grace period, time and risk are no looser than in any of
 * them. The roles and the escalation are those of the rule that asks for the most, else of the first: people who have a role of each list
 * may not exist.
 * @param asked In the order of the rules; at least one.
 * @param ownRisk The risk of the tool, which counts where a rule names none.
 * @throws Error without any result.
 */
export function strictestAsked(asked: readonly PolicyResult[], ownRisk: RiskLevel): PolicyResult {
  const [first] = asked
  if (!first) throw new Error('there is at least one answer to choose from')
  const most = asked.reduce((one, other) => (asksForMore(other, one, ownRisk) ? other : one))
  const { risk: _risk, expiresMs: _expires, extend: _extend, remindMs: _remind, ...said } = most
  const { alsoRoles: _also, ...requires } = asked.map((one) => one.requires).reduce(strictestRequirements)
  return {
    ...said,
    reason: [...new Set([most.reason, first.reason])].join('; '),
    requires: { ...requires, roles: most.requires.roles },
    ...riskOfAll(asked, ownRisk),
    ...earliest('expiresMs', asked),
    ...shortestExtension(asked),
    ...earliest('remindMs', asked),
  }
}

/** Compares the votes, then whether the requester has one, then the grace period, then the risk. */
function asksForMore(one: PolicyResult, other: PolicyResult, ownRisk: RiskLevel): boolean {
  const [its, wanted] = [one, other].map(({ requires: { quorum, notRequester, grace = '' }, risk = ownRisk }) => [
    quorum,
    Number(notRequester),
    durationMs(grace) ?? 0,
    RISK_ORDER.indexOf(risk),
  ]) as [number[], number[]]
  const place = its.findIndex((each, at) => each !== wanted[at])
  return place >= 0 && (its[place] ?? 0) > (wanted[place] ?? 0)
}

function riskOfAll(results: readonly PolicyResult[], ownRisk: RiskLevel): Pick<PolicyResult, 'risk'> {
  const highest = results.map(({ risk = ownRisk }) => risk).reduce(higherRisk)
  // Where the tool's own risk is the highest, it is shown with the tool's own reasons.
  const isOwn = results.some(({ risk }) => risk === undefined) && highest === ownRisk
  return isOwn ? {} : { risk: highest }
}

function earliest(time: 'expiresMs' | 'remindMs', results: readonly PolicyResult[]): Partial<PolicyResult> {
  const times = results.map((result) => result[time]).filter((ms) => ms !== undefined)
  return times.length === 0 ? {} : { [time]: Math.min(...times) }
}

/** People may extend the time only where every decision lets them, by the shortest of these times. */
function shortestExtension(results: readonly PolicyResult[]): Pick<PolicyResult, 'extend'> {
  let shortest: string | undefined
  for (const { extend } of results) {
    if (extend === undefined) return {}
    if (shortest === undefined || (durationMs(extend) ?? 0) < (durationMs(shortest) ?? 0)) shortest = extend
  }
  return shortest === undefined ? {} : { extend: shortest }
}

/** Escalation applies only if every decision names it, with the roles that all of them name, at the latest time. */
function escalationOfAll(results: readonly PolicyResult[]): Pick<PolicyResult, 'escalateMs' | 'escalateTo'> {
  let latest = 0
  let roles: string[] | undefined
  for (const { escalateMs, escalateTo } of results) {
    if (escalateMs === undefined || escalateTo === undefined) return {}
    latest = Math.max(latest, escalateMs)
    roles = roles === undefined ? escalateTo : roles.filter((role) => escalateTo.includes(role))
  }
  return roles === undefined || roles.length === 0 ? {} : { escalateMs: latest, escalateTo: [...roles].sort() }
}
