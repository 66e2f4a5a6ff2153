import {
  type Effect,
  inOrder,
  type JsonObject,
  type JsonValue,
  matchesGlob,
  type Preview,
  type PreviewField,
  parseJson,
  type RiskLevel,
  type Tool,
  ToolError,
  type Verification,
  type VerifyContext,
} from '@countersign/core'
import { openJsonSchema, type ToolDraft } from '@countersign/toolkit'
import {
  costFault,
  fillJson,
  fillWords,
  lasting,
  type PatternBudget,
  readCacheFor,
  readJsonTemplate,
  readWords,
  riskByName,
  valuesOf,
} from '@countersign/toolkit/internal'
import { callWords } from './call-words.ts'
import type { McpCall } from './calls.ts'
import { isTask, type McpDefinition } from './definitions.ts'
import type { KnownServer, KnownTool, ReadOther } from './known/known-tool.ts'
import { type PinnedTool, whatIsOther } from './pins.ts'
import type { ToolSettings } from './section.ts'
import { plainLine } from './words.ts'

/** How long a call may take where the configuration does not say. What is made a task is what takes long. */
const CALL_MS = 60_000
const TASK_MS = 600_000
/** Of a server's words about its tool on a card: short enough that the card shows them whole. */
const MAX_SAID_CHARACTERS = 400

/** What the drafts of one server share. */
export interface DraftParts {
  group: string
  /** What the server is called in a sentence. */
  name: string
  destination: string
  credential: string
  /** How the server is started or reached, as it is written: part of each definition. */
  server: JsonValue
  known: KnownServer | undefined
  settings: Readonly<Record<string, ToolSettings>>
  /** Of each call, where the configuration says one. */
  timeoutMs: number | undefined
  trustReadOnlyHints: boolean
  /** Of all its tools, for as long as this process runs: a new list does not buy new time. */
  patterns: PatternBudget
  call(tool: PinnedTool, call: McpCall): Promise<JsonValue>
  /** What became of an attempt that called a tool as a task. */
  find(attempt: string, signal: AbortSignal): Promise<Verification>
  /** Looks whether another process had a changed tool accepted. */
  lookAtPins(): void
  /** Reads with a tool of the same server, for a preview. */
  readOther(name: string, args: JsonObject, signal: AbortSignal): Promise<JsonValue | undefined>
}

/** The settings of a tool: what globs say, in their order, and over it what names it. */
export function settingsOf(settings: DraftParts['settings'], name: string): ToolSettings {
  const fitting = Object.entries(settings).filter(([glob]) => glob !== name && matchesGlob(glob, name))
  return Object.assign({}, ...fitting.map(([, own]) => own), settings[name])
}

type EffectParts = Pick<DraftParts, 'known' | 'settings' | 'trustReadOnlyHints'>

/**
 * Whether a tool changes anything: as the configuration says, or our own list. What the server says of it counts only where the configuration
 * trusts it.
 */
export const effectOf = (parts: EffectParts, tool: PinnedTool): Effect =>
  settingsOf(parts.settings, tool.definition.name).effect ??
  knownTool(parts.known, tool.definition.name)?.effect ??
  (isTrusted(parts, tool) ? 'read' : 'write')

/**
 * Whether a tool is a read only because its server says so: now and when it was pinned, without saying the contrary as well, and with no word
 * in its name that says more.
 */
export function isTrusted({ trustReadOnlyHints, settings, known }: EffectParts, { definition, was }: PinnedTool): boolean {
  const { name, title } = definition
  if (!trustReadOnlyHints || settingsOf(settings, name).effect !== undefined || knownTool(known, name)?.effect !== undefined) return false
  const saysSo = ({ annotations }: McpDefinition) => annotations.readOnlyHint === true && annotations.destructiveHint !== true
  return saysSo(definition) && (was === undefined || saysSo(was.definition)) && riskByName({ name, title, effect: 'write' }) === undefined
}

const knownTool = (known: KnownServer | undefined, name: string): KnownTool | undefined =>
  known && Object.hasOwn(known.tools, name) ? known.tools[name] : undefined

/** What the tool is called here: `/` has no place in a name. */
export const toolNameOf = (name: string): string => name.replaceAll('/', '.')

/**
 * A tool of a server as a tool of ours. While the server says something else of it than before, models go on seeing what it was.
 * @throws Error in plain words where it cannot be used.
 */
export function draftOf(parts: DraftParts, tool: PinnedTool): ToolDraft {
  const { definition, was, hash } = tool
  const { name } = definition
  const own = settingsOf(parts.settings, name)
  const known = knownTool(parts.known, name)
  const effect = effectOf(parts, tool)
  const shown = was?.definition ?? definition
  const fault = costFault(shown.inputSchema, parts.patterns)
  if (fault !== undefined) throw new Error(`its arguments cannot be checked: its schema ${fault}`)
  const cacheForMs = readCacheFor(own.cacheFor, effect, (words) => {
    throw new Error(`cacheFor ${words}`)
  })
  const words = own.describe === undefined ? undefined : readWords(own.describe)
  const timeoutMs = own.timeoutMs ?? parts.timeoutMs ?? (isTask(definition) ? TASK_MS : CALL_MS)
  const risk = riskOf(own, known, effect, definition.annotations)
  const preview = previewOf(parts, tool, known)
  return {
    name: toolNameOf(name),
    title: shown.title,
    // A server's words are not ours: a model may weigh them.
    description: `${parts.name} says: ${shown.description || shown.title || '(nothing)'}`,
    effect,
    inputSchema: shown.inputSchema,
    executor: 'server',
    idempotent: own.idempotent ?? effect === 'read',
    timeoutMs,
    ...(cacheForMs !== undefined && { cacheForMs }),
    ...(risk && { risk }),
    ...(was && { caution: cautionOf(parts, tool) }),
    destination: parts.destination,
    credential: parts.credential,
    definition: { server: parts.server, said: hash, ...(was && { was: was.hash }) },
    check: openJsonSchema(shown.inputSchema),
    describe: (args) => (words ? fillWords(words, args) : (known?.describe?.(args) ?? callWords(shown, args))),
    ...(preview && { preview }),
    execute: (args, { signal, idempotencyKey: attempt }) => parts.call(tool, { args, effect, signal, timeoutMs, attempt }),
    ...(effect === 'write' &&
      isTask(definition) && {
        verify: (_args: JsonObject, { signal, idempotencyKey }: VerifyContext) => parts.find(idempotencyKey, signal),
      }),
  }
}

function cautionOf({ name: server }: DraftParts, { definition, was }: PinnedTool): string {
  const fields = was ? whatIsOther(was.definition, definition).map(({ field }) => field.replace(/^the tool’s /, '')) : []
  const named = fields.length > 3 ? `${fields.slice(0, 3).join('; ')} and more` : fields.join('; ')
  return `${server} says something else of ${definition.name} than when it was first seen (${named}). It is asked about until a call of it is approved`
}

function riskOf(own: ToolSettings, known: KnownTool | undefined, effect: Effect, annotations: JsonObject): Tool['risk'] {
  const is = (level: RiskLevel, reason: string) => ({ level, reason })
  if (own.risk) return is(own.risk, `the configuration says ${own.risk}`)
  if (known?.risk)
    return known.risk === 'high' ? is('high', 'known to do what is hard to take back') : is(known.risk, 'known to change data')
  // A hint may raise the risk; none lowers it.
  if (effect === 'write' && !known && annotations.destructiveHint === true)
    return { ...is('high', 'its server says that it may destroy something'), isGuess: true }
  return undefined
}

function previewOf(parts: DraftParts, { definition, was, hash }: PinnedTool, known: KnownTool | undefined): ToolDraft['preview'] {
  const { before, describe } = settingsOf(parts.settings, definition.name)
  const look = before ? lookBefore(before) : known?.preview
  // Where we or the configuration have words for it, and where what it says is shown as a change, they say it once.
  const says = known || describe !== undefined || was ? [] : saidBy(parts, definition)
  if (!look && !was && says.length === 0) return undefined
  return async (args, signal): Promise<Preview> => {
    if (was) parts.lookAtPins()
    const other = was ? whatIsOther(was.definition, definition) : []
    const read: ReadOther = (name, given) => parts.readOther(name, given, signal)
    const fields = (await look?.(args, read)) ?? []
    const isHeld = look !== undefined || was !== undefined
    return {
      fields: [...other, ...fields, ...says],
      ...(isHeld && { precondition: { values: valuesOf(fields), ...(was && { said: hash }) } }),
    }
  }
}

/** What a server that we have not looked at says of its tool: for people, who are told that it is only said. */
function saidBy({ group }: DraftParts, { title, description }: McpDefinition): PreviewField[] {
  const text = plainLine(description || title, MAX_SAID_CHARACTERS)
  return text === '' ? [] : [{ field: `${group} says`, newValue: text, unverified: true }]
}

/** What the configuration says that a write replaces, and by what. */
function lookBefore({ tool, arguments: given, becomes }: NonNullable<ToolSettings['before']>): NonNullable<KnownTool['preview']> {
  const template = readJsonTemplate(given)
  return async (args, read) => {
    const found = await read(tool, (fillJson(template, args) ?? {}) as JsonObject)
    if (found === undefined)
      throw new ToolError('refused', `What it replaces could not be read: ${tool} is no tool of the server that only reads.`)
    const newValue = args[becomes] ?? null
    return [{ field: becomes, oldValue: replaced(found, newValue), newValue }]
  }
}

/**
 * What was read, as it is shown and compared: in one order, without what changes by itself. Many servers write an object as a text; where what
 * takes its place is such a text itself, it is kept as a text, byte by byte.
 */
function replaced(found: JsonValue, newValue: JsonValue): JsonValue {
  if (typeof found !== 'string') return lasting(inOrder(found))
  const written = typeof newValue === 'string' && objectIn(newValue) !== undefined ? undefined : objectIn(found)
  return written === undefined ? found : lasting(inOrder(written))
}

/** The object or the list that a text is the JSON of. */
function objectIn(text: string): JsonValue | undefined {
  const parsed = /^\s*[{[]/.test(text) ? parseJson(text) : undefined
  return parsed?.ok ? parsed.value : undefined
}
