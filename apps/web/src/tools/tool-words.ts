import type { ToolView } from '@countersign/client'

export type UsualVerdict = NonNullable<ToolView['usual']>

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

/**
 * Returns what policy says about the calls of a tool, as a sentence. Rules with a condition are named as such, because only a call shows
 * whether they match.
 */
export function policySentence({ verdict, rule, mayDiffer }: UsualVerdict): string {
  const usual =
    rule === null
      ? {
          allow: 'Calls run',
          ask: 'Calls need approval, because no rule matches all of them',
          deny: 'Calls are denied, because no rule matches all of them',
        }[verdict]
      : {
          allow: `Calls run without asking: “${rule}”`,
          ask: `Calls need approval: “${rule}”`,
          deny: `Calls are denied: “${rule}”`,
        }[verdict]
  return mayDiffer === 0 ? `${usual}.` : `${usual}. ${mayDifferText(mayDiffer)} may decide otherwise.`
}

/** Rules that only some calls meet, as words. */
export const mayDifferText = (count: number): string => (count === 1 ? 'One rule with a condition' : `${count} rules with a condition`)
