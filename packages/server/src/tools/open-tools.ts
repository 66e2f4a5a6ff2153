import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue, matchesGlob, type Tool } from '@countersign/core'
import { createRedactor, type Network, openNetwork, secretHeaders } from '../net/index.ts'
import type { CodedTool } from './define.ts'
import { modelNames } from './model-names.ts'
import { redactTool } from './redact.ts'
import type { RouteTable } from './route-schema.ts'
import { openRouteTable } from './route-table.ts'
import { SetupError, type SetupProblem } from './setup-error.ts'
import type { ToolSource, Way } from './source.ts'
import type { ToolDraft } from './tool-draft.ts'

/**
 * Tools from one source. `prefix: false` leaves the group's name out of the tools' names; `secrets` are texts in the headers of `routes`
 * that must not come back in any answer.
 */
export type ToolGroup = { prefix: boolean } & (
  | { routes: RouteTable; secrets?: readonly string[] }
  | { tools: readonly CodedTool[] }
  | { source: ToolSource }
)

/** All tools of a configuration, found by name or by an agent's globs. */
export interface ToolRegistry {
  all(): readonly Tool[]
  byName(name: string): Tool | undefined
  /**
   * The tools that fit any of the globs, by their name or `<group>.<name>`, in the order of the configuration.
   * @throws SetupError for a glob that fits none: a misspelt one must not quietly take a tool away.
   */
  forAgent(globs: readonly string[]): Tool[]
}

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/

/**
 * Opens the tools of all groups.
 * @param network Where their calls go through. Default: one that allows nothing private besides their own base addresses.
 * @throws SetupError with every problem found and its path, which starts with the group's name.
 * @example
 * const tools = openTools({ shop: { prefix: true, tools: [refund] } })
 * tools.byName('shop.refund')
 */
export function openTools(groups: Readonly<Record<string, ToolGroup>>, network: Network = openNetwork()): ToolRegistry {
  const problems: SetupProblem[] = []
  const way = { network, redactor: createRedactor(Object.values(groups).flatMap(groupSecrets)) }
  const opened = Object.entries(groups).flatMap(([group, source]) => {
    const report = (problem: SetupProblem) => problems.push({ path: [group, ...problem.path], message: problem.message })
    if (!NAME.test(group) || group.includes('.')) report({ path: [], message: 'is not a group name: letters, digits, _ and -' })
    const nameOf = (name: string) => (source.prefix ? `${group}.${name}` : name)
    return openGroup(source, way, nameOf, report).map((draft) => ({ group, draft }))
  })
  const seen = new Map<string, string>()
  for (const { group, draft } of opened) {
    const other = seen.get(draft.name)
    if (other !== undefined) problems.push({ path: [group], message: `has a tool named ${draft.name}, and so has the group ${other}` })
    seen.set(draft.name, group)
  }
  if (problems.length > 0) throw new SetupError(problems)
  const names = modelNames([...seen.keys()])
  return registry(opened.map(({ group, draft }) => ({ ...draft, group, modelName: names.get(draft.name) ?? draft.name })))
}

/** The texts that a group's calls carry and that must not come back. */
export function groupSecrets(group: ToolGroup): string[] {
  if ('source' in group) return [...group.source.secrets]
  if ('tools' in group) return group.tools.flatMap(({ secrets }) => secrets)
  return [...(group.secrets ?? []), ...secretHeaders(group.routes.headers)]
}

function openGroup(source: ToolGroup, way: Way, nameOf: (name: string) => string, report: (problem: SetupProblem) => void): ToolDraft[] {
  if ('routes' in source) {
    return openRouteTable(source.routes, way, nameOf, ({ path, message }) => report({ path: ['routes', ...path], message }))
  }
  if ('source' in source) {
    const { kind } = source.source
    const drafts = source.source.drafts(way, ({ path, message }) => report({ path: [kind, ...path], message }))
    return drafts.map((draft) => redactTool({ ...draft, name: nameOf(draft.name) }, way.redactor))
  }
  return source.tools.map((tool, index) => {
    if (!NAME.test(tool.name)) report({ path: ['tools', index], message: `has a name that cannot be used: ${tool.name}` })
    const { secrets: _, ...draft } = tool
    return redactTool({ ...draft, name: nameOf(tool.name), destination: 'local', definition: null }, way.redactor)
  })
}

function registry(tools: readonly Tool[]): ToolRegistry {
  const named = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    all: () => tools,
    byName: (name) => named.get(name),
    forAgent(globs) {
      const problems = globs.flatMap((glob, index) =>
        tools.some((tool) => fitsTool(glob, tool)) ? [] : [{ path: [index], message: `"${glob}" fits no tool` }],
      )
      if (problems.length > 0) throw new SetupError(problems)
      return tools.filter((tool) => globs.some((glob) => fitsTool(glob, tool)))
    },
  }
}

/** True when a glob of a policy or an agent means this tool: by its name, or by `<group>.<name>` where the group is unprefixed. */
export const fitsTool = (glob: string, tool: Pick<Tool, 'name' | 'group'>): boolean =>
  matchesGlob(glob, tool.name) || matchesGlob(glob, `${tool.group}.${tool.name}`)

/**
 * SHA-256 (hex) over what a tool is. An approval is for one definition: when this differs at the time of execution, people are asked
 * again. Words for people (`describe`, `resultUrl`) do not count; for routes, method, templates and base URL do.
 */
export function toolDefinitionHash(tool: Tool & { readonly definition?: JsonValue }): string {
  const { name, description, inputSchema, effect, destination, executor, idempotent, definition = null } = tool
  return createHash('sha256')
    .update(canonicalJson({ name, description, inputSchema, effect, destination, executor, idempotent, definition }))
    .digest('hex')
}
