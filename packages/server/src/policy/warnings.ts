import { durationMs, type PolicyDocument, type PolicyRule } from '@countersign/core'

/** Roles that need no warning when nobody has them yet. */
const BUILT_IN = new Set(['admin', 'approver'])

/**
 * Returns warnings about likely mistakes of a policy's author. None of them keeps the policy from being used. @param roles Those that
 * principals have, where that is known.
 */
export function warningsAbout({ rules, expires }: PolicyDocument, roles: ReadonlySet<string> | undefined): string[] {
  // The document's defaults apply to every rule that asks and sets no value of its own.
  const timed = rules.map((rule) => (rule.verdict === 'ask' ? { expires, ...rule } : rule))
  return timed.flatMap((rule) => [...warningsOf(rule, roles)].map((text) => `"${rule.name}" ${text}`))
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
