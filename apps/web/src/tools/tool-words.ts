import type { ToolDetails, ToolView } from '@countersign/client'

type RuleOfTool = NonNullable<ToolDetails['policy']>['rules'][number]

const KIND_WORDS: Readonly<Record<string, string>> = {
  routes: 'Routes',
  tools: 'Code',
  openapi: 'OpenAPI',
  mcp: 'MCP server',
  github: 'GitHub',
  linear: 'Linear',
  objectives: 'Objectives',
  workspace: 'Workspace',
  'coding-agent': 'Coding agent',
  'ext-authz': 'Gateway',
  registered: 'Registered by an agent',
}

/** The kind of a source in words; a kind of somebody's own by its name. */
export const kindWord = (kind: string): string => KIND_WORDS[kind] ?? kind

/** The tools that a search finds: each of its words is in the name, the group, the kind or the description. */
export function findTools(tools: readonly ToolView[], text: string, group: string): ToolView[] {
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean)
  return tools
    .filter((tool) => group === '' || tool.group === group)
    .filter(({ name, group: of, kind, description }) => {
      const found = `${name} ${of} ${kindWord(kind)} ${description}`.toLowerCase()
      return words.every((word) => found.includes(word))
    })
    .sort((a, b) => Number(b.caution !== undefined) - Number(a.caution !== undefined))
}

const STRENGTH = { allow: 0, ask: 1, deny: 2 } as const

/**
 * Returns what policy says about the calls of a tool, as a sentence. Rules with a condition are named as such, because only a call shows
 * whether they match.
 */
export function policySentence({ rules, default: fallback }: NonNullable<ToolDetails['policy']>): string {
  const sure = strictest(rules.filter(({ always }) => always))
  const usual = sure
    ? {
        allow: `Calls run without asking: “${sure.rule}”`,
        ask: `Calls need approval: “${sure.rule}”`,
        deny: `Calls are denied: “${sure.rule}”`,
      }[sure.verdict]
    : {
        allow: 'Calls run',
        ask: 'Calls need approval, because no rule matches all of them',
        deny: 'Calls are denied, because no rule matches all of them',
      }[fallback]
  const least = sure ? STRENGTH[sure.verdict] : -1
  const more = rules.filter(({ always, verdict }) => !always && STRENGTH[verdict] > least).length
  if (more === 0) return `${usual}.`
  return `${usual}. ${more === 1 ? 'One rule' : `${more} rules`} with a condition may decide otherwise.`
}

function strictest(rules: readonly RuleOfTool[]): RuleOfTool | undefined {
  let found: RuleOfTool | undefined
  for (const rule of rules) if (!found || STRENGTH[rule.verdict] > STRENGTH[found.verdict]) found = rule
  return found
}
