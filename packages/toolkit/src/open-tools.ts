import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue, matchesGlob, REGISTERED_GROUP, type Tool } from '@countersign/core'
import type { CodedTool } from './define.ts'
import { modelNames } from './model-names.ts'
import { createRedactor, type Network, openNetwork, secretHeaders } from './net/index.ts'
import { overlay } from './overlay.ts'
import { redactTool } from './redact.ts'
import { riskByName } from './risk-by-name.ts'
import type { RouteTable } from './routes/route-schema.ts'
import { openRouteTable } from './routes/route-table.ts'
import { SetupError, type SetupProblem } from './setup-error.ts'
import type { OutboundContext, ToolSource } from './source.ts'
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

/** All tools of a configuration, found by name or by an agent's globs. They may change while the server runs: each answer is for now. */
export interface ToolRegistry {
  all(): readonly Tool[]
  byName(name: string): Tool | undefined
  /**
   * Returns a function that returns the tools which match any of the globs at that time, by their name or `<group>.<name>`, in the order of
   * the configuration.
   * @throws SetupError for a glob that matches none: a typing mistake must not silently remove a tool.
   */
  forAgent(globs: readonly string[]): () => readonly Tool[]
  /** True when the glob fits a tool, or may fit one of a source that has not told of its tools yet. */
  mayFit(glob: string): boolean
  /** The configured groups by their name, with what each consists of: `routes`, `tools` or the kind of its source. */
  readonly groups: ReadonlyMap<string, string>
  /** Calls `changed` when there are other tools than before. */
  onChange(changed: () => void): void
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
  const way = { network, redactor: createRedactor(Object.values(groups).flatMap(groupSecrets)) }
  const problems: SetupProblem[] = []
  const opened = new Map<string, ToolDraft[]>()
  for (const [group, source] of Object.entries(groups)) {
    const report = (problem: SetupProblem) => problems.push({ path: [group, ...problem.path], message: problem.message })
    if (group === REGISTERED_GROUP) report({ path: [], message: 'is reserved for tools that agents register: choose another name' })
    if (!NAME.test(group) || group.includes('.')) report({ path: [], message: 'is not a group name: letters, digits, _ and -' })
    opened.set(group, openGroup(group, source, way, report))
  }
  const tools = joinGroups(opened, (problem) => problems.push(problem))
  if (problems.length > 0) throw new SetupError(problems)
  const live = createRegistry(tools, Object.entries(groups))
  for (const [group, source] of Object.entries(groups)) {
    if (!('source' in source)) continue
    source.source.onChange?.(() => {
      const late: SetupProblem[] = []
      opened.set(
        group,
        openGroup(group, source, way, (problem) => late.push(problem)),
      )
      live.replace(joinGroups(opened, (problem) => late.push(problem), group))
      return late
    })
  }
  return live.registry
}

/**
 * The drafts of all groups as tools. Of two with one name the first stays; the other is reported.
 * @param late The group that has just changed: what comes with it takes no name from another.
 */
function joinGroups(opened: ReadonlyMap<string, readonly ToolDraft[]>, report: (problem: SetupProblem) => void, late?: string): Tool[] {
  const seen = new Map<string, { group: string; draft: ToolDraft }>()
  const inTurn = [...opened.keys()].sort((a, b) => Number(a === late) - Number(b === late))
  for (const group of inTurn) {
    for (const draft of opened.get(group) ?? []) {
      const other = seen.get(draft.name)
      if (other) report({ path: [group], message: `has a tool named ${draft.name}, and so has the group ${other.group}` })
      else seen.set(draft.name, { group, draft })
    }
  }
  const names = modelNames([...seen.keys()])
  const named = [...opened].flatMap(([group, drafts]) => drafts.map((draft) => ({ group, draft })))
  return named
    .filter(({ draft }) => seen.get(draft.name)?.draft === draft)
    .map(({ group, draft }) => overlay(draft, { group, modelName: names.get(draft.name) ?? draft.name, ...riskOf(group, draft) }))
}

/** The risk that a source gives applies; otherwise the tool's name decides, without its group's. */
function riskOf(group: string, { name, risk, effect, method, title }: ToolDraft): Pick<Tool, 'risk'> {
  const own = name.startsWith(`${group}.`) ? name.slice(group.length + 1) : name
  const known = risk ?? riskByName({ name: own, effect, method, title })
  return known ? { risk: known } : {}
}

/** The texts that a group's calls carry and that must not come back. */
export function groupSecrets(group: ToolGroup): string[] {
  if ('source' in group) return [...group.source.secrets]
  if ('tools' in group) return group.tools.flatMap(({ secrets }) => secrets)
  return [...(group.secrets ?? []), ...secretHeaders(group.routes.headers)]
}

function openGroup(group: string, source: ToolGroup, way: OutboundContext, report: (problem: SetupProblem) => void): ToolDraft[] {
  const nameOf = (name: string) => (source.prefix ? `${group}.${name}` : name)
  if ('routes' in source) {
    return openRouteTable(source.routes, way, nameOf, ({ path, message }) => report({ path: ['routes', ...path], message }))
  }
  if ('source' in source) {
    const { kind } = source.source
    const drafts = source.source.drafts(way, ({ path, message }) => report({ path: [kind, ...path], message }))
    return drafts.map((draft) => redactTool(overlay(draft, { name: nameOf(draft.name) }), way.redactor))
  }
  return source.tools.map((tool, index) => {
    if (!NAME.test(tool.name)) report({ path: ['tools', index], message: `has a name that cannot be used: ${tool.name}` })
    const { secrets: _, ...draft } = tool
    return redactTool({ ...draft, name: nameOf(tool.name), destination: 'local', definition: null }, way.redactor)
  })
}

/** A registry, and what replaces all of its tools at once. */
function createRegistry(first: readonly Tool[], groups: readonly (readonly [string, ToolGroup])[]) {
  const listeners: (() => void)[] = []
  let tools = first
  let named = new Map(tools.map((tool) => [tool.name, tool]))
  // An agent registers its tools later, or not at all.
  const isRegistered = (glob: string) => glob.startsWith(`${REGISTERED_GROUP}.`)
  const mayFit = (glob: string) =>
    isRegistered(glob) || tools.some((tool) => fitsTool(glob, tool)) || groups.some((group) => mayFitLater(glob, group))
  const registry: ToolRegistry = {
    all: () => tools,
    byName: (name) => named.get(name),
    mayFit,
    groups: new Map(groups.map(([name, group]) => [name, kindOf(group)])),
    onChange: (changed) => void listeners.push(changed),
    forAgent(globs) {
      const problems = globs.flatMap((glob, index) =>
        mayFit(glob) && !isRegistered(glob) ? [] : [{ path: [index], message: fitsNoTool(glob, tools) }],
      )
      if (problems.length > 0) throw new SetupError(problems)
      let lookedIn: readonly Tool[] | undefined
      let found: readonly Tool[] = []
      return () => {
        // Asked for each call of an agent: looked for once, until the tools change.
        if (lookedIn !== tools) found = tools.filter((tool) => globs.some((glob) => fitsTool(glob, tool)))
        lookedIn = tools
        return found
      }
    },
  }
  return {
    registry,
    replace(next: readonly Tool[]) {
      tools = next
      named = new Map(next.map((tool) => [tool.name, tool]))
      for (const changed of listeners) changed()
    },
  }
}

const kindOf = (group: ToolGroup): string => ('source' in group ? group.source.kind : 'routes' in group ? 'routes' : 'tools')

/** True when the glob may mean a tool of a group whose source has not told of its tools. */
function mayFitLater(glob: string, [group, source]: readonly [string, ToolGroup]): boolean {
  if (!('source' in source) || (source.source.isKnown ?? true)) return false
  const start = `${group}.`
  const [head = '', ...wild] = glob.split('*')
  // A tool of an unprefixed group may have any name.
  return !source.prefix || head.startsWith(start) || (wild.length > 0 && start.startsWith(head))
}

const MAX_SHOWN = 8

/** Returns the problem of a glob that fits none of these tools, with what to write: the name with its group, or what there is. */
export function fitsNoTool(glob: string, tools: readonly Pick<Tool, 'name'>[]): string {
  const meant = tools.find(({ name }) => name.endsWith(`.${glob}`))
  if (meant) return `"${glob}" fits no tool; write "${meant.name}"`
  if (tools.length === 0) return `"${glob}" fits no tool`
  const shown = tools.slice(0, MAX_SHOWN).map(({ name }) => name)
  const more = tools.length > shown.length ? [`${tools.length - shown.length} more`] : []
  return `"${glob}" fits no tool; there ${tools.length === 1 ? 'is' : 'are'} ${[...shown, ...more].join(', ')}`
}

/** True when a glob of a policy or an agent means this tool: by its name, or by `<group>.<name>` where the group is unprefixed. */
export const fitsTool = (glob: string, tool: Pick<Tool, 'name' | 'group'>): boolean =>
  matchesGlob(glob, tool.name) || matchesGlob(glob, `${tool.group}.${tool.name}`)

/**
 * Returns SHA-256 (hex) over a tool's definition. An approval is for one definition: if it differs at the time of execution, people decide
 * again. Words for people (`describe`, `resultUrl`) do not count; method, templates and base URL of a route do.
 */
export function toolDefinitionHash(tool: Tool & { readonly definition?: JsonValue }): string {
  const { name, description, inputSchema, effect, destination, executor, idempotent, definition = null } = tool
  return createHash('sha256')
    .update(canonicalJson({ name, description, inputSchema, effect, destination, executor, idempotent, definition }))
    .digest('hex')
}
