import type { JsonSchema, PolicyRule } from '@countersign/core'
import type { ASTNode } from '@marcbachmann/cel-js'
import { unknownStep } from './schema-arguments.ts'
import { type ArgumentUse, namesVariable, type Step, usesOfArguments, writtenPath } from './uses-of-arguments.ts'

/** A likely mistake in a condition: `at` is an index into its text. */
export interface ConditionDoubt {
  text: string
  at: number
}

interface ToolSchema {
  name: string
  inputSchema: JsonSchema
}

const MAX_NAMED = 8

/**
 * Finds arguments in a condition that the tools of its rule do not have: a misspelt name, or one that only some of the tools have.
 * @param tools Those that the rule matches. Without any, nothing is known.
 */
export function findUnknownArguments(
  ast: ASTNode,
  { verdict }: Pick<PolicyRule, 'verdict'>,
  tools: readonly ToolSchema[],
): ConditionDoubt[] {
  if (tools.length === 0) return []
  const uses = usesOfArguments(ast)
  const asked = uses.filter(({ isAsked }) => isAsked)
  const namesTool = namesVariable(ast, 'tool')
  const found = new Map<string, ConditionDoubt>()
  for (const use of uses) {
    const lacking = tools.flatMap(({ name, inputSchema }) => {
      const unknown = unknownStep(inputSchema, use.path)
      return unknown ? [{ tool: name, ...unknown }] : []
    })
    const [first] = lacking
    if (!first) continue
    const name = writtenPath(use.path.slice(0, first.at + 1))
    if (lacking.length === tools.length) found.set(name, { text: noTool(name, first, tools.length), at: use.at })
    // A rule that looks at the tool itself says which tools it means.
    else if (!namesTool && !isAskedBefore(use, asked)) found.set(name, { text: someTools(name, lacking, verdict), at: use.at })
  }
  return [...found.values()]
}

function noTool(name: string, { tool, instead }: { tool: string; instead: readonly string[] }, count: number): string {
  const names = instead.slice(0, MAX_NAMED).join(', ')
  const others = instead.length > MAX_NAMED ? `${names} and ${instead.length - MAX_NAMED} more` : names
  if (count > 1) return `names ${name}, which none of its ${count} tools has`
  return `names ${name}, which ${tool} does not have${others === '' ? '' : `; it has ${others}`}`
}

const THEN = {
  allow: 'the calls of those tools need approval',
  ask: 'the rule matches every call of those tools',
  deny: 'the rule matches every call of those tools',
} as const

function someTools(name: string, lacking: readonly { tool: string }[], verdict: PolicyRule['verdict']): string {
  const [first] = lacking
  const which = lacking.length === 1 ? first?.tool : `${first?.tool} and ${lacking.length - 1} more of its tools`
  return `names ${name}, which ${which} ${lacking.length === 1 ? 'does' : 'do'} not have: there the condition fails, and ${THEN[verdict]}. Write has(${name}) && … before it`
}

/** True where the condition looks first whether a part, or one that holds it, is there. */
const isAskedBefore = (use: ArgumentUse, asked: readonly ArgumentUse[]): boolean =>
  use.isAsked || asked.some(({ path }) => path.every((step: Step, at) => step === use.path[at]))
