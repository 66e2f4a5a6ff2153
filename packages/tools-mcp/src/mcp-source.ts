import { type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import {
  createRedactor,
  type OutboundContext,
  type SetupProblem,
  type SourceFinding,
  type SourceServices,
  type ToolDraft,
  type ToolSource,
} from '@countersign/toolkit'
import { openPatternBudget } from '@countersign/toolkit/internal'
import type { Transport } from '@modelcontextprotocol/client'
import { type McpCall, McpCalls } from './calls.ts'
import { McpConnection } from './connection.ts'
import { isTask, readDefinitions, type SeenDefinition } from './definitions.ts'
import { type DraftParts, draftOf, effectOf, isTrusted, settingsOf, toolNameOf } from './draft.ts'
import type { KnownServer } from './known/known-tool.ts'
import { MAX_PINNED_TOOLS } from './limits.ts'
import type { Listed } from './list-tools.ts'
import type { Pace } from './pace.ts'
import { againstPins, type PinnedTool, readPin, toPin } from './pins.ts'
import type { ToolSettings } from './section.ts'
import { plainLine } from './words.ts'

const PREVIEW_MS = 5_000
/** The maximum number of unexpected events that are logged, per connection. */
const MAX_ODDITIES = 20
/** The maximum number of tools named in one sentence. */
const MAX_NAMED = 20

/** A server as configured, with all variables filled in. */
export interface McpServerSettings {
  group: string
  isHttp: boolean
  destination: string
  credential: string
  /** The configuration as written: part of each tool's definition. */
  written: JsonValue
  known: KnownServer | undefined
  tools: Readonly<Record<string, ToolSettings>>
  timeoutMs: number | undefined
  startWithinMs: number
  trustReadOnlyHints: boolean
  /** The last lines of a program's standard error. */
  lastWords?: readonly string[]
  secrets: readonly string[]
  pace: Pace
  openTransport(log: () => SourceServices['log'] | undefined): Transport
}

/** An MCP server as a source of tools. It stays connected while the server runs, and its tools are compared with their pins. */
export class McpSource implements ToolSource {
  readonly kind = 'mcp'
  readonly secrets: readonly string[]
  readonly #settings: McpServerSettings
  readonly #connection: McpConnection
  readonly #calls: McpCalls
  #services: SourceServices | undefined
  #onToolsChanged: (() => SetupProblem[]) | undefined
  /** The tools that the server listed last; undefined before the first list. */
  #seen: SeenDefinition[] | undefined
  /** False while the last list is not compared with the pins. */
  #isTaken = false
  #pins: ReadonlyMap<string, SeenDefinition> = new Map()
  #tools: PinnedTool[] = []
  /** What the drafts were made from. */
  #state: string | undefined
  #drafts = new Map<PinnedTool, ToolDraft | { fault: string }>()
  /** The tools that were left out of the list, each with the reason in words. */
  #leftOut: string[] = []
  readonly #patterns = openPatternBudget()
  #oddities = 0
  /** The last list that is being processed: lists are processed one after another. */
  #taking: Promise<void> = Promise.resolve()

  constructor(settings: McpServerSettings) {
    this.#settings = settings
    this.secrets = settings.secrets
    this.#connection = new McpConnection({
      name: this.#name,
      isHttp: settings.isHttp,
      connectMs: settings.startWithinMs,
      pace: settings.pace,
      openTransport: () => settings.openTransport(() => this.#services?.log),
      onListed: (listed, isNew) => this.#onListed(listed, isNew),
      redact: createRedactor(settings.secrets).text,
      onAway: (why) => this.#services?.log.warn({ group: settings.group, why, ...this.#errorOutput }, 'mcp.disconnected'),
      onOdd: (words) => this.#onOdd(words),
    })
    this.#calls = new McpCalls(this.#connection, this.#name)
  }

  get #name(): string {
    return `The MCP server ${this.#settings.group}`
  }

  /** The last lines of a program that is away, for the log. */
  get #errorOutput(): { stderr?: string[] } {
    const { lastWords = [] } = this.#settings
    return lastWords.length > 0 ? { stderr: [...lastWords] } : {}
  }

  get isKnown(): boolean {
    return this.#seen !== undefined || this.#pins.size > 0
  }

  get away(): { sinceMs: number; why: string } | undefined {
    const { awaySinceMs, trouble } = this.#connection
    return awaySinceMs === undefined || trouble === undefined ? undefined : { sinceMs: awaySinceMs, why: trouble }
  }

  /** Connects. Waits for `startWithinMs` at most; connecting then continues in the background. */
  async start(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, this.#settings.startWithinMs)
    await Promise.race([this.#connection.connect(), late.promise]).finally(() => clearTimeout(timer))
  }

  onChange(onToolsChanged: () => SetupProblem[]): void {
    this.#onToolsChanged = onToolsChanged
  }

  async attach(services: SourceServices): Promise<void> {
    this.#services = services
    await this.#takeList()
    this.#tellState()
  }

  drafts(_way: OutboundContext, _report: (problem: SetupProblem) => void): ToolDraft[] {
    return this.#tools.flatMap((tool) => {
      const draft = this.#draftOf(tool)
      return 'fault' in draft ? [] : [draft]
    })
  }

  async check(_way?: Pick<OutboundContext, 'network' | 'redactor'>, signal?: AbortSignal): Promise<SourceFinding[]> {
    if (this.#connection.isStarting && signal) await Promise.race([this.#connection.connect(), aborted(signal)])
    const { trouble, facts, isStarting } = this.#connection
    const { group, lastWords = [] } = this.#settings
    const findings: SourceFinding[] = []
    if (isStarting) findings.push({ level: 'problem', message: `${this.#name} is still starting: it has not answered yet` })
    else if (trouble !== undefined) findings.push({ level: 'problem', message: `${this.#name} is away: ${trouble}` })
    else
      findings.push({ level: 'ok', message: `${this.#name} is ${facts?.name}, protocol ${facts?.protocol}, ${this.#tools.length} tools` })
    if (trouble !== undefined)
      for (const line of lastWords) findings.push({ level: 'note', message: `${group} wrote on its error output: ${line}` })
    const trusted = this.#tools.filter((tool) => isTrusted(this.#parts(), tool)).map(({ definition }) => definition.name)
    if (trusted.length > 0) {
      const named =
        trusted.length > MAX_NAMED ? `${trusted.slice(0, MAX_NAMED).join(', ')} and ${trusted.length - MAX_NAMED} more` : trusted.join(', ')
      findings.push({ level: 'note', message: `${this.#name} is trusted to know that these only read: ${named}` })
    }
    for (const { definition } of this.#tools.filter(({ was }) => was)) {
      findings.push({ level: 'problem', message: `${definition.name} changed since it was first seen: its calls are asked about` })
    }
    for (const words of this.#allLeftOut()) findings.push({ level: 'note', message: `left out: ${words}` })
    return findings
  }

  async close(): Promise<void> {
    await this.#connection.close()
    await this.#taking
  }

  #allLeftOut(): string[] {
    const faults = this.#tools.flatMap((tool) => {
      const draft = this.#draftOf(tool)
      return 'fault' in draft ? [`${tool.definition.name}: ${draft.fault}`] : []
    })
    const unpinned = this.#services && this.#seen ? this.#seen.length - this.#tools.length : 0
    if (unpinned > 0)
      faults.push(`${unpinned} more tools: ${MAX_PINNED_TOOLS.toLocaleString('en')} tools of this server are pinned already`)
    return [...this.#leftOut, ...faults]
  }

  #draftOf(tool: PinnedTool): ToolDraft | { fault: string } {
    const known = this.#drafts.get(tool)
    if (known) return known
    const draft = this.#openDraft(tool)
    this.#drafts.set(tool, draft)
    return draft
  }

  #openDraft(tool: PinnedTool): ToolDraft | { fault: string } {
    const { name } = tool.definition
    if (isTask(tool.definition) && this.#connection.facts?.takesTasks === false) {
      return { fault: 'it can only be called as a task, and its server does not say that it takes calls as tasks' }
    }
    const twin = this.#tools.find((other) => toolNameOf(other.definition.name) === toolNameOf(name))
    if (twin !== tool) return { fault: `it would have the name of ${twin?.definition.name}` }
    try {
      return draftOf(this.#parts(), tool)
    } catch (error) {
      return { fault: plainLine(error instanceof Error ? error.message : String(error), 300) }
    }
  }

  #parts(): DraftParts {
    const { group, destination, credential, written, known, tools, timeoutMs, trustReadOnlyHints } = this.#settings
    return {
      group,
      name: this.#name,
      destination,
      credential,
      server: written,
      known,
      settings: tools,
      timeoutMs,
      trustReadOnlyHints,
      patterns: this.#patterns,
      call: (tool, call) => this.#call(tool, call),
      find: (attempt, signal) => this.#calls.find(attempt, signal),
      lookAtPins: () => this.#lookAtPins(),
      readOther: (name, args, signal) => this.#readOther(name, args, signal),
    }
  }

  #lookAtPins(): Promise<void> {
    return this.#takeList().catch((error) => this.#onOdd(`what is kept of its tools could not be read: ${String(error)}`))
  }

  async #call(tool: PinnedTool, call: McpCall): Promise<JsonValue> {
    // The call of a changed tool was approved with the change shown, so the change is accepted.
    if (tool.was) await this.#accept(tool)
    return this.#calls.make(tool.definition, { ...call, beforeSend: () => this.#requireSame(tool) })
  }

  /**
   * The server may have listed other tools since the call was decided, at the latest when the connection was made anew for it.
   * @throws ToolError `stale`: the call goes back to people, or is made again as a call of the changed tool.
   */
  async #requireSame({ definition: { name }, hash }: PinnedTool): Promise<void> {
    if (this.#seen?.some((one) => one.definition.name === name && one.hash === hash)) return
    // The next card must show the change.
    await this.#taking
    throw new ToolError('stale', `${name} is not the tool that was shown any more. Nothing was sent.`)
  }

  async #readOther(name: string, args: JsonObject, signal: AbortSignal): Promise<JsonValue | undefined> {
    const tool = this.#tools.find(({ definition, was }) => definition.name === name && !was)
    if (!tool || effectOf(this.#parts(), tool) !== 'read') return undefined
    return this.#call(tool, { args, effect: 'read', signal, timeoutMs: PREVIEW_MS, attempt: undefined })
  }

  async #accept(tool: PinnedTool): Promise<void> {
    const { group } = this.#settings
    await this.#services?.pins.replace(group, toPin(tool))
    this.#services?.log.info({ group, tool: tool.definition.name }, 'mcp.tool_accepted')
    await this.#takeList()
  }

  #onListed({ entries, notes }: Listed, isNew: boolean): void {
    const { seen, leftOut } = readDefinitions(entries)
    const isOffered = ({ definition: { name } }: SeenDefinition) => settingsOf(this.#settings.tools, name).leaveOut !== true
    const offered = seen.filter(isOffered)
    const allLeftOut = [...notes, ...leftOut]
    // Most lists say the same as the one before.
    const isSame = namesOf(offered) === namesOf(this.#seen ?? []) && allLeftOut.join('\n') === this.#leftOut.join('\n')
    if (!isNew && isSame && this.#isTaken) return
    this.#seen = offered
    this.#leftOut = allLeftOut
    if (isNew) this.#oddities = 0
    if (!this.#services) {
      this.#become(this.#seen)
      return
    }
    this.#isTaken = false
    this.#takeList().then(
      () => this.#tellState(),
      (error) => this.#onOdd(`its tools could not be taken in: ${String(error)}`),
    )
  }

  /** Pins new tools, reads the pins, and updates the tools accordingly. */
  #takeList(): Promise<void> {
    const { group } = this.#settings
    this.#taking = this.#taking.then(async () => {
      const pins = this.#services?.pins
      const seen = this.#seen
      if (!pins) return this.#become(seen ?? [])
      if (seen) {
        const known = new Set((await pins.all(group)).map(({ tool }) => tool))
        const late = seen.filter(({ definition }) => !known.has(definition.name))
        await pins.keep(group, late.slice(0, Math.max(0, MAX_PINNED_TOOLS - known.size)).map(toPin))
      }
      const all = await pins.all(group)
      const listed = seen && new Set(seen.map(({ definition }) => definition.name))
      // The pins of unlisted tools are dropped from memory, because their definitions may fill megabytes.
      this.#pins = new Map(all.filter(({ tool }) => listed?.has(tool) ?? true).map((pin) => [pin.tool, readPin(pin)]))
      this.#become(seen?.filter(({ definition }) => this.#pins.has(definition.name)) ?? [...this.#pins.values()])
      this.#isTaken = seen === this.#seen
    })
    const taken = this.#taking
    // A failure must not block the next list.
    this.#taking = taken.catch(() => {})
    return taken
  }

  #become(seen: readonly SeenDefinition[]): void {
    const tools = againstPins(seen, this.#pins)
    // Every client that is told of a change lists anew, and a model then reads all its tools again.
    const state = JSON.stringify([namesOf(tools), this.#connection.facts?.takesTasks])
    if (state === this.#state) return
    this.#state = state
    this.#tools = tools
    this.#drafts = new Map()
    for (const { path, message } of this.#onToolsChanged?.() ?? []) this.#onOdd(`${path.join('.')} ${message}`)
  }

  #tellState(): void {
    const { trouble, facts } = this.#connection
    const { group } = this.#settings
    const tools = this.#tools.length
    const changed = this.#tools.filter(({ was }) => was).map(({ definition }) => definition.name)
    if (this.#connection.isStarting) this.#services?.log.info({ group, tools }, 'mcp.starting')
    else if (trouble !== undefined) this.#services?.log.warn({ group, why: trouble, tools, ...this.#errorOutput }, 'mcp.disconnected')
    else this.#services?.log.info({ group, server: facts?.name ?? '', protocol: facts?.protocol ?? '', tools }, 'mcp.connected')
    if (changed.length > 0) this.#services?.log.warn({ group, changed: changed.slice(0, 20) }, 'mcp.tools_changed')
    const leftOut = this.#allLeftOut()
    if (leftOut.length > 0) this.#services?.log.warn({ group, leftOut: leftOut.slice(0, 20), count: leftOut.length }, 'mcp.tool_skipped')
  }

  #onOdd(words: string): void {
    if (this.#oddities++ < MAX_ODDITIES)
      this.#services?.log.warn({ group: this.#settings.group, words: plainLine(words, 300) }, 'mcp.unexpected_message')
  }
}

/** Returns a text that is another one whenever a tool, its definition or its pin is. Some servers list their tools in any order. */
const namesOf = (tools: readonly PinnedTool[]): string =>
  tools
    .map(({ definition: { name }, hash, was }) => `${name} ${hash} ${was?.hash ?? ''}`)
    .sort()
    .join('\n')

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
