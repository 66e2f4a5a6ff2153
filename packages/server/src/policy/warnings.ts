import { durationMs, type PolicyDocument, type PolicyRule, type Tool } from '@countersign/core'
import { readCondition } from './condition.ts'
import { isAbout } from './rules-about.ts'
import { Turns } from './turns.ts'
import { findUnknownArguments } from './unknown-arguments.ts'

/** Roles that need no warning when nobody has them yet. */
const BUILT_IN = new Set(['admin', 'approver'])

/** A likely mistake of a policy's author. */
export interface PolicyWarning {
  rule: string
  /** The part of the document, where it is one: `rules.0.match.when`. */
  path: readonly (string | number)[]
  /** Reads on from the name of the rule: `never reminds anybody`. */
  text: string
  /** The place in a condition, as an index into its text. */
  at?: number
}

/** The facts about an installation that warnings rest on. No warning is given about a part that is undefined. */
export interface Known {
  /** Those that principals have. */
  roles: ReadonlySet<string> | undefined
  tools: readonly Pick<Tool, 'name' | 'group' | 'effect' | 'registered' | 'inputSchema'>[] | undefined
}

/** Looking in the schema of a tool for what a condition names costs so many steps per character of the condition. */
const STEPS_PER_CHARACTER = 10

/**
 * Returns warnings about likely mistakes of a policy's author. None of them keeps the policy from being used. Other requests are served
 * meanwhile.
 */
export async function warningsAbout({ rules, expires }: PolicyDocument, known: Known): Promise<PolicyWarning[]> {
  const turns = new Turns()
  const warnings: PolicyWarning[] = []
  for (const [index, rule] of rules.entries()) {
    // The document's defaults apply to every rule that asks and sets no value of its own.
    const timed = rule.verdict === 'ask' ? { expires, ...rule } : rule
    for (const { part, ...warning } of warningsOf(timed, known)) {
      warnings.push({ rule: rule.name, path: ['rules', index, ...part], ...warning })
    }
    turns.add((rule.match.when?.length ?? 0) * (known.tools?.length ?? 0) * STEPS_PER_CHARACTER)
    if (turns.isDue) await turns.next()
  }
  return warnings
}

interface RuleWarning {
  part: readonly string[]
  text: string
  at?: number
}

function* warningsOf(rule: PolicyRule, { roles, tools }: Known): Generator<RuleWarning> {
  const { match, verdict, expires, remind, escalate, requires } = rule
  if (verdict === 'allow' && match.effect !== 'read' && match.tool === undefined && match.when === undefined) {
    yield { part: [], text: `lets changes by ${match.agent ?? 'every agent'} run without asking anybody` }
  }
  const ms = (duration: string | undefined) => (duration === undefined ? undefined : durationMs(duration))
  const endMs = ms(expires) ?? Number.POSITIVE_INFINITY
  if ((ms(remind) ?? 0) >= endMs) yield { part: ['remind'], text: `never reminds anybody: it expires after ${expires}` }
  if ((ms(escalate?.after) ?? 0) >= endMs) yield { part: ['escalate', 'after'], text: `is never escalated: it expires after ${expires}` }
  for (const [part, names] of [
    [['requires', 'roles'], requires?.roles],
    [['escalate', 'roles'], escalate?.roles],
  ] as const) {
    for (const role of names ?? []) {
      if (role === 'member') yield { part, text: 'names the role member, which decides nothing' }
      else if (roles && !BUILT_IN.has(role) && !roles.has(role)) yield { part, text: `waits for the role ${role}, which nobody has yet` }
    }
  }
  const read = tools && match.when !== undefined ? readCondition(match.when) : undefined
  if (!tools || !read || !('ast' in read)) return
  const about = tools.filter((tool) => isAbout(rule, tool))
  for (const doubt of findUnknownArguments(read.ast, rule, about)) yield { part: ['match', 'when'], ...doubt }
}
