import { evaluatePolicy, matchesGlob, type PolicyDocument, type PolicyResult, type PolicyRule, type Tool } from '@countersign/core'
import type { SourceFinding } from '@countersign/toolkit'
import { fitsTool } from '@countersign/toolkit/internal'
import type { Config } from '../../config/index.ts'
import { digestPolicy, notesAbout } from '../../policy/index.ts'
import type { StoredPolicy } from '../../store/index.ts'
import { note, ok } from './check.ts'

/** The verdict of the policy for a call of a tool. */
export interface PolicyRow {
  tool: string
  effect: Tool['effect']
  /** The caller, where that makes a difference; undefined for all callers. */
  agent?: string
  /** In words: `runs`, `asks 1 of approver`, `denied`. */
  would: string
  risk?: string
  rule: string
  /** Rules that may decide differently for some calls: they have a condition. */
  unless: string[]
}

type World = Pick<Config, 'agents' | 'tools' | 'policy'>

/**
 * Returns the policy to report, and a note where the one of the configuration is not the one in force. A version that a person saved stays in
 * force over starts, as long as the policy of the configuration does not change.
 */
export function policyToReport(
  configured: PolicyDocument,
  stored: StoredPolicy | undefined,
): { policy: PolicyDocument; notes: SourceFinding[] } {
  const digest = digestPolicy(configured)
  if (!stored || stored.digest === digest) return { policy: configured, notes: [] }
  if (stored.digest_of_file === digest) {
    const words = `version ${stored.number}, which a person saved, is in force, and is reported here: it stays until the policy of the configuration changes`
    return { policy: JSON.parse(stored.document), notes: [note(words)] }
  }
  const words = `version ${stored.number} is in force: the policy of the configuration, which is reported here, takes its place at the next start`
  return { policy: configured, notes: [note(words)] }
}

/** Returns the verdict of the policy on every tool, as far as it does not depend on a call. */
export function policyTable({ agents, tools, policy }: World): PolicyRow[] {
  return tools.all().flatMap((tool) => {
    const callers = agents.filter((agent) => agent.tools.some(({ name }) => name === tool.name)).map(({ name }) => name)
    const rows = (callers.length === 0 ? [undefined] : callers).map((agent) => rowOf(policy, tool, agent))
    const [first] = rows
    const isSame = rows.every((row) => JSON.stringify({ ...row, agent: '' }) === JSON.stringify({ ...first, agent: '' }))
    if (!first || !isSame) return rows
    const { agent: _, ...row } = first
    return [row]
  })
}

function rowOf(policy: PolicyDocument, tool: Tool, agent: string | undefined): PolicyRow {
  const { name, group, effect } = tool
  // The result of a condition is unknown: evaluate without conditions first, then list the rules that may decide differently.
  const said = evaluatePolicy(policy, 0, { tool: name, group, effect, agent }, () => false)
  const unless = policy.rules.filter((rule) => rule.match.when !== undefined && fits(rule, tool, agent)).map(({ name }) => name)
  return {
    tool: name,
    effect,
    ...(agent !== undefined && { agent }),
    would: wouldOf(said),
    ...(said.risk !== undefined && { risk: said.risk }),
    rule: said.rule,
    unless,
  }
}

function wouldOf({ verdict, requires: { quorum, roles, notRequester } }: PolicyResult): string {
  if (verdict !== 'ask') return verdict === 'allow' ? 'runs' : 'denied'
  return `asks ${quorum} of ${roles.join(' or ')}${notRequester ? ', not by the requester' : ''}`
}

const fits = ({ match: { tool: glob, effect, agent: wanted } }: PolicyRule, tool: Tool, agent: string | undefined): boolean =>
  (glob === undefined || fitsTool(glob, tool)) &&
  (effect === undefined || effect === tool.effect) &&
  (wanted === undefined || (agent !== undefined && matchesGlob(wanted, agent)))

/** Finds likely mistakes: rules without a tool, tools without an agent, roles without a person. */
export async function findPolicyDoubts({ agents, tools, policy }: World, roles: ReadonlySet<string> | undefined): Promise<SourceFinding[]> {
  const all = tools.all()
  const names = agents.map(({ name }) => name)
  const findings = (await notesAbout(policy, { roles, tools: all })).map((text) => note(`the rule ${text}`))
  for (const rule of policy.rules) {
    if (!all.some((tool) => [undefined, ...names].some((agent) => fits(rule, tool, agent))))
      findings.push(note(`the rule "${rule.name}" matches no tool`))
  }
  const used = new Set(agents.flatMap((agent) => agent.tools.map(({ name }) => name)))
  const unused = all.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  if (agents.length > 0 && unused.length > 0)
    findings.push(
      note(
        `no agent here has ${unused.length <= 8 ? unused.join(', ') : `${unused.slice(0, 8).join(', ')} and ${unused.length - 8} more tools`}`,
      ),
    )
  return findings.length === 0
    ? [ok(`${policy.rules.length} ${policy.rules.length === 1 ? 'rule' : 'rules'}, ${policy.default} for everything else`)]
    : findings
}
