import { posix } from 'node:path'
import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { z } from 'zod'
import type { HostTool } from '../../coding-agent/hosts.ts'
import { proxiedAnswer, proxiedEvent, ReportStatus } from './proxied.ts'
import { type HookEvent, type HookShape, Json, readShape, Text } from './shape.ts'

const Id = z.string().min(1).max(200)

/** As the protocol sends it in `session/request_permission`, with what earlier updates said about it. */
const ToolCall = z.looseObject({
  toolCallId: Id,
  title: z.string().nullish(),
  kind: z.string().max(200).nullish(),
  name: z.string().max(200).nullish(),
  rawInput: Json.optional(),
  content: z.array(Json).nullish(),
  locations: z.array(Json).nullish(),
})
type ToolCall = z.output<typeof ToolCall>

/** Title and description of a prompt of version 2. */
const Reason = z.string().trim().min(1).max(2_000).optional()

const Body = z.discriminatedUnion('event', [
  z.object({ event: z.literal('ask'), session: Id, cwd: Text.default(''), toolCall: ToolCall, reason: Reason }),
  z.object({
    event: z.literal('answered'),
    session: Id,
    cwd: Text.default(''),
    toolCall: ToolCall,
    reason: Reason,
    allowed: z.boolean(),
    said: z.string().max(1_000).optional(),
  }),
  z.object({
    event: z.literal('report'),
    session: Id,
    cwd: Text.default(''),
    toolCall: ToolCall,
    status: ReportStatus,
    output: Json.optional(),
  }),
  z.object({ event: z.literal('ended'), session: Id }),
])

/** Agents behind `countersign acp`, which sends these messages. The protocol has no place for another input. */
export const acpShape: HookShape = {
  read(body): HookEvent {
    const read = readShape(Body, body, 'acp')
    const { event, session } = read
    if (event === 'ended') return { kind: 'ended', host: 'acp', event, session }
    const call = { ...hostCall(read.toolCall, read.cwd), ...(event !== 'report' && read.reason && { reason: read.reason }) }
    return proxiedEvent(read, { session, callId: read.toolCall.toolCallId, call })
  },
  answer: proxiedAnswer,
}

/**
 * A call in the words of the protocol as a tool. The kind is a hint of the agent, and often of a server behind it, so it never makes a
 * call one that only reads.
 */
function hostCall(toolCall: ToolCall, folder: string): HostTool {
  const { title, kind, name, rawInput, content, locations } = toolCall
  const input = isObject(rawInput) ? rawInput : {}
  const call = (tool: string, given: JsonObject): HostTool => ({ host: 'acp', tool, input: given, folder })
  const command = commandOf(input)
  if (kind === 'execute' && command !== undefined) {
    return call('execute', { ...input, command, ...(Array.isArray(input.command) && { argv: input.command }) })
  }
  if (kind === 'fetch' && typeof input.url === 'string') return call('fetch', input)
  const [diff, ...others] = content ?? []
  if (kind === 'edit' && others.length === 0 && isObject(diff) && diff.type === 'diff' && typeof diff.newText === 'string') {
    const { path = '', oldText, newText } = diff
    const shown: JsonValue[] = [path, oldText ?? null, newText]
    const rest = Object.fromEntries(Object.entries(input).filter(([, value]) => !shown.includes(value)))
    const change: JsonObject = typeof oldText === 'string' ? { path, oldText, newText } : { path, content: newText }
    if (isAboutOne(change, input, { locations: locations ?? [], folder }))
      return call('content' in change ? 'write' : 'edit', { ...rest, ...change })
  }
  const about: JsonObject = { rawInput: rawInput ?? null, content: content ?? [], locations: locations ?? [] }
  return call(name || kind || 'other', { ...about, title: title ?? null, kind: kind ?? null })
}

const PATH_NAME = /(^|_)(path|file|filename|uri)$|(Path|File|FileName|Uri)$/
const TEXT_NAME = /^(old|new)_?(text|string|str)$|^(content|file_?text|new_source)$/i

/**
 * False where the input or the locations of an edit name another file, or another text, than its diff: the card of a change to a file would
 * show one of the two, and a rule for that file would allow both.
 */
function isAboutOne(change: JsonObject, input: JsonObject, { locations, folder }: { locations: JsonValue[]; folder: string }): boolean {
  const isPath = (value: JsonValue | undefined) =>
    value === change.path || (typeof value === 'string' && resolved(value, folder) === resolved(String(change.path), folder))
  // An agent may give a part of a text where the diff has the whole file.
  const texts = [change.oldText, change.newText, change.content].filter((text) => typeof text === 'string')
  const isShown = (value: JsonValue) => value === null || (typeof value === 'string' && texts.some((text) => text.includes(value)))
  return (
    locations.every((one) => isObject(one) && isPath(one.path)) &&
    Object.entries(input).every(([name, value]) => {
      if (PATH_NAME.test(name)) return isPath(value)
      if (Object.hasOwn(change, name)) return value === change[name]
      return !TEXT_NAME.test(name) || isShown(value)
    })
  )
}

const resolved = (path: string, folder: string): string => (folder === '' ? path : posix.resolve(folder, path))

/**
 * A command line, also of words that the agent gives one by one, with the arguments and variables beside it. Undefined where one of them
 * cannot be part of a line.
 */
function commandOf({ command, args = null, env = null }: JsonObject): string | undefined {
  const variables = assignmentsOf(env)
  const line = typeof command === 'string' && isEmpty(args) ? command : wordsOf([command ?? null].flat())
  const more = isEmpty(args) ? '' : typeof args === 'string' ? args : wordsOf(args)
  const parts = [variables, line, more]
  return parts.every((part) => part !== undefined) ? parts.filter((part) => part !== '').join(' ') : undefined
}

const isEmpty = (value: JsonValue): boolean => value === null || (typeof value === 'object' && Object.keys(value).length === 0)

const wordsOf = (words: JsonValue): string | undefined =>
  Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string') ? words.map(quoted).join(' ') : undefined

/** Variables, as an object or as the protocol lists those of a terminal. */
function assignmentsOf(env: JsonValue): string | undefined {
  if (isEmpty(env)) return ''
  const entries = Array.isArray(env) ? env.map((one) => (isObject(one) ? [one.name, one.value] : [])) : Object.entries(Object(env))
  const isFit = ([name, value]: readonly unknown[]) => /^[A-Za-z_]\w*$/.test(String(name)) && typeof value === 'string'
  return entries.every(isFit) ? entries.map(([name, value]) => `${name}=${quoted(String(value))}`).join(' ') : undefined
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)
