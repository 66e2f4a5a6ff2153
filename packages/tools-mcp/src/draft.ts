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
  type ToolChange,
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
  member,
  type PatternBudget,
  readCacheFor,
  readJsonTemplate,
  readWords,
  riskByName,
  valuesOf,
} from '@countersign/toolkit/internal'
import { callWords } from './call-words.ts'
import type { McpCall } from './calls.ts'
import { isTask, type McpDefinition, type SeenDefinition } from './definitions.ts'
import { refuseArguments, withoutArguments } from './known/file-arguments.ts'
import type { KnownServer, KnownTool, ReadOther } from './known/known-tool.ts'
import { type PinnedTool, toPin, whatIsOther } from './pins.ts'
import type { ToolSettings } from './section.ts'
import { plainLine } from './words.ts'

/**
 * How long a call may take when the configuration sets no timeout. Calls as tasks get more time, because servers use tasks for long work.
 */
const CALL_MS = 60_000
const TASK_MS = 600_000
/** The maximum length of a server's description on a card. The card shows a text of this length in full. */
const MAX_SAID_CHARACTERS = 400

/** The settings and services that all drafts of one server share. */
export interface DraftParts {
  group: string
  /** The name of the server in a sentence. */
  name: string
  destination: string
  credential: string
  /** How the server is started or reached, as written in the configuration. It is part of each definition. */
  server: JsonValue
  known: KnownServer | undefined
  settings: Readonly<Record<string, ToolSettings>>
  /** The timeout of each call, if the configuration sets one. */
  timeoutMs: number | undefined
  trustReadOnlyHints: boolean
  /** The budget for the patterns of all its tools, for as long as this process runs: a new list does not renew it. */
  patterns: PatternBudget
  call(tool: PinnedTool, call: McpCall): Promise<JsonValue>
  /** Finds the outcome of an attempt that called a tool as a task. */
  find(attempt: string, signal: AbortSignal): Promise<Verification>
  /** Checks whether a person or another process accepted a changed tool. Never fails. */
  lookAtPins(): Promise<void>
  /** Calls a read tool of the same server, for a preview. */
  readOther(name: string, args: JsonObject, signal: AbortSignal): Promise<JsonValue | undefined>
}

/** Returns the settings of a tool: those of matching globs in order, overridden by those of its exact name. */
export function settingsOf(settings: DraftParts['settings'], name: string): ToolSettings {
  const fitting = Object.entries(settings).filter(([glob]) => glob !== name && matchesGlob(glob, name))
  return Object.assign({}, ...fitting.map(([, own]) => own), settings[name])
}

type EffectParts = Pick<DraftParts, 'known' | 'settings' | 'trustReadOnlyHints'>

/**
 * Returns whether a tool changes anything: from the configuration, else from the built-in list of known servers. The server's own hint that
 * it reads counts only where the configuration trusts it.
 */
export const effectOf = (parts: EffectParts, tool: PinnedTool): Effect =>
  settingsOf(parts.settings, tool.definition.name).effect ?? builtInEffect(parts, tool) ?? (isTrusted(parts, tool) ? 'read' : 'write')

/** Returns the effect from the built-in list. A tool whose server says that it does not only read, now or in the pin, is no read. */
function builtInEffect({ known }: EffectParts, { definition, was }: PinnedTool): Effect | undefined {
  const effect = knownTool(known, definition.name)?.effect
  const isDenied = [definition, was?.definition].some((one) => one?.annotations.readOnlyHint === false)
  return effect === 'read' && isDenied ? 'write' : effect
}

/**
 * Returns whether a tool counts as a read only because its server claims it. The hint must be present both now and in the pin, without a
 * contrary hint, and the tool's name must not suggest a risk.
 */
export function isTrusted({ trustReadOnlyHints, settings, known }: EffectParts, { definition, was }: PinnedTool): boolean {
  const { name, title } = definition
  if (!trustReadOnlyHints || settingsOf(settings, name).effect !== undefined || knownTool(known, name)?.effect !== undefined) return false
  const saysSo = ({ annotations }: McpDefinition) => annotations.readOnlyHint === true && annotations.destructiveHint !== true
  return saysSo(definition) && (was === undefined || saysSo(was.definition)) && riskByName({ name, title, effect: 'write' }) === undefined
}

const knownTool = (known: KnownServer | undefined, name: string): KnownTool | undefined =>
  known && Object.hasOwn(known.tools, name) ? known.tools[name] : undefined

/** Returns the arguments that a read must not have: they name a file that the server would write. */
function fileArgumentsOf(server: KnownServer | undefined, name: string): RegExp | undefined {
  const known = knownTool(server, name)
  return known?.effect === undefined ? server?.fileArguments : known.fileArguments
}

/** Returns the name of the tool in Countersign, where `/` is not allowed. */
export const toolNameOf = (name: string): string => name.replaceAll('/', '.')

/**
 * Returns the draft for a server's tool. While the server lists another definition than the pinned one, models keep seeing the pinned one.
 * @throws Error in plain words when the tool cannot be used.
 */
export function draftOf(parts: DraftParts, tool: PinnedTool): ToolDraft {
  const { definition, was, hash } = tool
  const { name } = definition
  const own = settingsOf(parts.settings, name)
  const known = knownTool(parts.known, name)
  const effect = effectOf(parts, tool)
  const shown = was?.definition ?? definition
  const leftOut = effect === 'read' ? fileArgumentsOf(parts.known, name) : undefined
  const inputSchema = leftOut ? withoutArguments(shown.inputSchema, leftOut) : shown.inputSchema
  const fault = costFault(inputSchema, parts.patterns)
  if (fault !== undefined) throw new Error(`its arguments cannot be checked: its schema ${fault}`)
  const cacheForMs = readCacheFor(own.cacheFor, effect, (words) => {
    throw new Error(`cacheFor ${words}`)
  })
  const words = own.describe === undefined ? undefined : readWords(own.describe)
  const timeoutMs = own.timeoutMs ?? parts.timeoutMs ?? (isTask(definition) ? TASK_MS : CALL_MS)
  const risk = riskOf(own, known, effect, definition.annotations)
  const preview = previewOf(parts, tool, known)
  const check = openJsonSchema(inputSchema)
  return {
    name: toolNameOf(name),
    title: shown.title,
    // The description is attributed to the server, so that the model can weigh it.
    description: `${parts.name} says: ${shown.description || shown.title || '(nothing)'}`,
    effect,
    inputSchema,
    executor: 'server',
    idempotent: own.idempotent ?? effect === 'read',
    timeoutMs,
    ...(cacheForMs !== undefined && { cacheForMs }),
    ...(risk && { risk }),
    ...(was && { caution: cautionOf(parts, tool), change: changeOf(parts, tool, was) }),
    destination: parts.destination,
    credential: parts.credential,
    definition: { server: parts.server, said: hash, ...(was && { was: was.hash }) },
    check: leftOut ? refuseArguments(check, leftOut) : check,
    describe: (args) => (words ? fillWords(words, args) : (known?.describe?.(args) ?? callWords(shown, args))),
    ...(preview && { preview }),
    execute: (args, { signal, idempotencyKey: attempt }) => parts.call(tool, { args, effect, signal, timeoutMs, attempt }),
    ...(effect === 'write' &&
      isTask(definition) && {
        verify: (_args: JsonObject, { signal, idempotencyKey }: VerifyContext) => parts.find(idempotencyKey, signal),
      }),
  }
}

function changeOf(parts: DraftParts, tool: PinnedTool, was: SeenDefinition): ToolChange {
  const { tool: name, hash, definition } = toPin(tool)
  return {
    hash,
    fields: whatIsOther(was.definition, tool.definition),
    pin: { tool: name, was: was.hash, definition },
    reload: () => parts.lookAtPins(),
  }
}

function cautionOf({ name: server }: DraftParts, { definition, was }: PinnedTool): string {
  const fields = was ? whatIsOther(was.definition, definition).map(({ field }) => field.replace(/^the tool’s /, '')) : []
  const named = fields.length > 3 ? `${fields.slice(0, 3).join('; ')} and more` : fields.join('; ')
  return `${server} says something else of ${definition.name} than when it was first seen (${named}). Every call needs approval until one is approved`
}

function riskOf(own: ToolSettings, known: KnownTool | undefined, effect: Effect, annotations: JsonObject): Tool['risk'] {
  const is = (level: RiskLevel, reason: string) => ({ level, reason })
  if (own.risk) return is(own.risk, `the configuration says ${own.risk}`)
  if (known?.risk)
    return known.risk === 'high' ? is('high', 'known to do what is hard to take back') : is(known.risk, 'known to change data')
  // A hint may raise the risk but never lowers it.
  if (effect === 'write' && !known && annotations.destructiveHint === true)
    return { ...is('high', 'its server says that it may destroy something'), isGuess: true }
  return undefined
}

function previewOf(parts: DraftParts, { definition, was, hash }: PinnedTool, known: KnownTool | undefined): ToolDraft['preview'] {
  const { before, describe } = settingsOf(parts.settings, definition.name)
  const look = before ? lookBefore(before) : known?.preview
  // The server's description is left out if the configuration or the built-in list describes the tool, or if the description is shown as a
  // change.
  const says = known || describe !== undefined || was ? [] : saidBy(parts, definition)
  if (!look && !was && says.length === 0) return undefined
  return async (args, signal): Promise<Preview> => {
    if (was) void parts.lookAtPins()
    const other = was ? whatIsOther(was.definition, definition) : []
    const read: ReadOther = (name, given) => parts.readOther(name, given, signal)
    const fields = (await look?.(args, read)) ?? []
    const isHeld = look !== undefined || was !== undefined
    return {
      fields: [...other.map((row) => ({ ...row, ofTool: true as const })), ...fields, ...says],
      ...(isHeld && { precondition: { values: valuesOf(fields), ...(was && { said: hash }) } }),
    }
  }
}

/** Returns the description of a tool of an unknown server as a preview field. The field is marked as unverified. */
function saidBy({ group }: DraftParts, { title, description }: McpDefinition): PreviewField[] {
  const text = plainLine(description || title, MAX_SAID_CHARACTERS)
  return text === '' ? [] : [{ field: `${group} says`, newValue: text, unverified: true }]
}

/** Returns a preview that reads the value to be replaced, as `before` in the configuration describes. */
function lookBefore({ tool, arguments: given, becomes }: NonNullable<ToolSettings['before']>): NonNullable<KnownTool['preview']> {
  const template = readJsonTemplate(given)
  return async (args, read) => {
    const found = await read(tool, (fillJson(template, args) ?? {}) as JsonObject)
    if (found === undefined)
      throw new ToolError('refused', `The value that it replaces could not be read: ${tool} is no tool of the server that only reads.`)
    const newValue = member(args, becomes)
    // An optional argument that is absent leaves its field as it is: the arguments are all that there is to show.
    return newValue === undefined ? [] : [{ field: becomes, oldValue: replaced(found, newValue), newValue }]
  }
}

/**
 * Returns the value that was read in the form that is shown and compared: sorted, without members that change by themselves. Many servers
 * return an object as JSON text. When the new value is such a text, the old one stays a text, byte by byte.
 */
function replaced(found: JsonValue, newValue: JsonValue): JsonValue {
  if (typeof found !== 'string') return lasting(inOrder(found))
  const written = typeof newValue === 'string' && objectIn(newValue) !== undefined ? undefined : objectIn(found)
  return written === undefined ? found : lasting(inOrder(written))
}

/** Returns the object or list that a JSON text contains. */
function objectIn(text: string): JsonValue | undefined {
  const parsed = /^\s*[{[]/.test(text) ? parseJson(text) : undefined
  return parsed?.ok ? parsed.value : undefined
}
