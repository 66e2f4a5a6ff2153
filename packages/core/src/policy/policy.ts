import { z } from 'zod'
import type { Effect } from '../ports/tool.ts'
import { Duration, durationMs } from '../wire/duration.ts'

export const Verdict = z.enum(['allow', 'ask', 'deny'])
export type Verdict = z.infer<typeof Verdict>

const PolicyMatch = z.strictObject({
  tool: z.string().min(1).optional(),
  effect: z.enum(['read', 'write']).optional(),
  agent: z.string().min(1).optional(),
})

const PolicyRule = z
  .strictObject({
    name: z.string().min(1).max(200),
    match: PolicyMatch,
    verdict: Verdict,
    /** How long people may take; unanswered, the action expires. Without it they may take as long as they like. */
    expires: Duration.optional(),
    /** When an unanswered action is called overdue, once; five minutes where nothing is said. Not before `expires`: never. */
    remind: Duration.optional(),
  })
  .refine(
    ({ verdict, expires, remind }) => verdict === 'ask' || (expires === undefined && remind === undefined),
    'expires and remind are for rules whose verdict is ask: nobody waits for the others',
  )

/** The part of the policy document that this version evaluates. A key it does not know is refused when it is read, never skipped. */
export const PolicyDocument = z.strictObject({
  default: z.enum(['ask', 'deny']).default('ask'),
  rules: z.array(PolicyRule).max(1_000).default([]),
})
export type PolicyDocument = z.infer<typeof PolicyDocument>

/** What stands when no policy is configured: reads run, everything else asks. */
export const DEFAULT_POLICY: PolicyDocument = {
  default: 'ask',
  rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }],
}

export interface PolicySubject {
  tool: string
  group: string
  effect: Effect
  agent: string | undefined
}

export interface PolicyResult {
  verdict: Verdict
  /** The first rule of the winning verdict, or `default`. */
  rule: string
  /** What that rule says of how long people may take. */
  expiresMs?: number | undefined
  /** What that rule says of when they are reminded. */
  remindMs?: number | undefined
}

const STRENGTH: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 }

/**
 * Evaluates every rule: deny beats ask beats allow, the first rule of the winning verdict gives its name and its times; no rule at all:
 * the default.
 *
 * @example
 * evaluatePolicy(DEFAULT_POLICY, { tool: 'getOrders', group: 'shop', effect: 'read', agent: 'desk' })
 * // { verdict: 'allow', rule: 'reads run' }
 */
export function evaluatePolicy(policy: PolicyDocument, subject: PolicySubject): PolicyResult {
  let best: z.infer<typeof PolicyRule> | undefined
  for (const rule of policy.rules) {
    if (!matches(rule.match, subject)) continue
    if (!best || STRENGTH[rule.verdict] > STRENGTH[best.verdict]) best = rule
  }
  if (!best) return { verdict: policy.default, rule: 'default' }
  const { verdict, name, expires, remind } = best
  return { verdict, rule: name, expiresMs: asMs(expires), remindMs: asMs(remind) }
}

const asMs = (duration: string | undefined) => (duration === undefined ? undefined : durationMs(duration))

function matches(match: z.infer<typeof PolicyMatch>, subject: PolicySubject): boolean {
  if (match.effect !== undefined && match.effect !== subject.effect) return false
  if (match.agent !== undefined && !matchesGlob(match.agent, subject.agent ?? '')) return false
  if (match.tool === undefined) return true
  return matchesGlob(match.tool, subject.tool) || matchesGlob(match.tool, `${subject.group}.${subject.tool}`)
}

/** True when `name` fits `glob`; `*` stands for any characters, everything else for itself. */
export function matchesGlob(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*')
  if (rest.length === 0) return glob === name
  if (!name.startsWith(first)) return false
  // Greedy from the left for the inner pieces, the last one anchored at the end: linear, no backtracking to bound.
  const last = rest.pop() ?? ''
  let at = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
