import { DEFAULT_REQUIREMENTS, durationMs, matchesGlob, type PolicyDocument, type PolicyRule } from '@countersign/core'

/** Roles that need no warning when nobody has them yet. */
const BUILT_IN = new Set(['admin', 'approver'])

/**
 * Returns warnings about likely mistakes of a policy's author. None of them keeps the policy from being used. @param roles Those that
 * principals have, where that is known.
 */
export function warningsAbout({ rules, expires }: PolicyDocument, roles: ReadonlySet<string> | undefined): string[] {
  // The document's defaults apply to every rule that asks and sets no value of its own.
  const timed = rules.map((rule) => (rule.verdict === 'ask' ? { expires, ...rule } : rule))
  return timed.flatMap((rule, place) =>
    [...warningsOf(rule, roles), ...laxerBefore(rule, timed.slice(0, place))].map((text) => `"${rule.name}" ${text}`),
  )
}

function* warningsOf(rule: PolicyRule, roles: ReadonlySet<string> | undefined): Generator<string> {
  const { match, verdict, expires, remind, escalate, requires } = rule
  if (verdict === 'allow' && match.effect !== 'read' && match.tool === undefined && match.when === undefined) {
    yield `lets changes by ${match.agent ?? 'every agent'} run without asking anybody`
  }
  const ms = (duration: string | undefined) => (duration === undefined ? undefined : durationMs(duration))
  const endMs = ms(expires) ?? Number.POSITIVE_INFINITY
  if ((ms(remind) ?? 0) >= endMs) yield `never reminds anybody: it expires after ${expires}`
  if ((ms(escalate?.after) ?? 0) >= endMs) yield `is never escalated: it expires after ${expires}`
  for (const role of [...(requires?.roles ?? []), ...(escalate?.roles ?? [])]) {
    if (roles && !BUILT_IN.has(role) && !roles.has(role)) yield `waits for the role ${role}, which nobody has yet`
  }
}

/** Of the rules that ask about a call, the first sets the requirements: a stricter one below it does not count where both match. */
function* laxerBefore(rule: PolicyRule, earlier: readonly PolicyRule[]): Generator<string> {
  if (rule.verdict !== 'ask') return
  const laxer = earlier.find((other) => other.verdict === 'ask' && requiresMore(rule, other) && isHiddenBy(other, rule))
  if (laxer) yield `has requirements that do not count for calls that "${laxer.name}" matches too: move it above that rule`
}

/**
 * True when `other` matches every call that `rule` matches. Where only some calls may match both, `other` must be laxer in every way:
 * of two rules for different people neither is the stricter, and no order of theirs would satisfy the warning.
 */
const isHiddenBy = (other: PolicyRule, rule: PolicyRule): boolean =>
  coversAll(other, rule) || (mayBothMatch(other, rule) && !requiresMore(other, rule))

const coversAll = ({ match: all }: PolicyRule, { match }: PolicyRule): boolean =>
  all.when === undefined &&
  covers(all.tool, match.tool) &&
  covers(all.agent, match.agent) &&
  (all.effect === undefined || all.effect === match.effect)

const covers = (glob: string | undefined, one: string | undefined): boolean =>
  glob === undefined || (one !== undefined && matchesGlob(glob, one))

/** Conditions are not compared. */
const mayBothMatch = ({ match: a }: PolicyRule, { match: b }: PolicyRule): boolean =>
  (covers(a.tool, b.tool) || covers(b.tool, a.tool)) &&
  (covers(a.agent, b.agent) || covers(b.agent, a.agent)) &&
  (a.effect === undefined || b.effect === undefined || a.effect === b.effect)

/** True when an approval that is enough for `other` may not be enough for `rule`. */
function requiresMore(rule: PolicyRule, other: PolicyRule): boolean {
  const [mine, its] = [requirementsOf(rule), requirementsOf(other)]
  return mine.quorum > its.quorum || (mine.notRequester && !its.notRequester) || its.roles.some((role) => !mine.roles.includes(role))
}

const requirementsOf = ({ requires }: PolicyRule) => ({ ...DEFAULT_REQUIREMENTS, ...requires })
