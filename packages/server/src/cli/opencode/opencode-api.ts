import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { Environment } from '../../config/index.ts'
import { LOOPBACK } from '../api.ts'
import { eventsOf } from '../event-stream.ts'

/** A permission that opencode waits for. */
export interface Permission {
  id: string
  session: string
  /** Its kind: `bash`, `edit`, `external_directory` and others. */
  permission: string
  patterns: JsonValue
  metadata: JsonValue
  /** The tool call that needs it, where there is one. */
  call: { message: string; id: string } | undefined
}

/** A tool call, as far as it has come. */
export interface ToolPart {
  session: string
  callId: string
  tool: string
  state: JsonObject
}

/** The HTTP server of opencode. */
export interface OpencodeApi {
  /** The events from now on. @throws Error when it cannot be reached. */
  events(signal: AbortSignal): Promise<AsyncIterable<JsonObject>>
  pending(): Promise<Permission[]>
  /** Returns false for a permission that was answered already. */
  reply(id: string, body: { reply: 'once' | 'reject'; message?: string }): Promise<boolean>
  folderOf(session: string): Promise<string>
  toolPart(session: string, call: NonNullable<Permission['call']>): Promise<ToolPart | undefined>
}

/**
 * The address of `opencode serve`, without a slash at its end.
 * @throws Error for one that is not of the web, and for one that a password would go to unencrypted.
 */
export function opencodeAddress(text: string, { OPENCODE_SERVER_PASSWORD: password }: Environment): string {
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new Error(`the address of opencode must be an http:// or https:// address, not ${JSON.stringify(text)}`)
  }
  if (password && address.protocol === 'http:' && !LOOPBACK.has(address.hostname)) {
    throw new Error(`the password of opencode would go to ${address.host} unencrypted: use https`)
  }
  return text.replace(/\/+$/, '')
}

/** An answer that is no stream takes no longer. */
const ANSWER_MS = 30_000

export function createOpencodeApi(base: string, environment: Environment): OpencodeApi {
  const { OPENCODE_SERVER_PASSWORD: password, OPENCODE_SERVER_USERNAME: user = 'opencode' } = environment
  const headers = {
    'content-type': 'application/json',
    ...(password && { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }),
  }
  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(base + path, { signal: AbortSignal.timeout(ANSWER_MS), ...init, headers }).catch((cause: unknown) => {
      throw new Error(`opencode at ${base} cannot be reached`, { cause })
    })
    if (response.status === 401) throw new Error(`opencode at ${base} refuses the password: set OPENCODE_SERVER_PASSWORD as it has it`)
    return response
  }
  async function read(path: string): Promise<JsonValue> {
    const response = await send(path)
    if (!response.ok) throw new Error(`opencode at ${base} answered ${response.status} to ${path}`)
    return (await response.json()) as JsonValue
  }
  return {
    async events(signal) {
      const response = await send('/event', { signal })
      if (!response.ok) throw new Error(`opencode at ${base} answered ${response.status} to /event`)
      return messagesOf(response.body)
    },
    async pending() {
      const list = await read('/permission')
      return Array.isArray(list) ? list.flatMap((one) => permissionOf(one) ?? []) : []
    },
    async reply(id, body) {
      const response = await send(`/permission/${encodeURIComponent(id)}/reply`, { method: 'POST', body: JSON.stringify(body) })
      if (response.status === 404) return false
      if (!response.ok) throw new Error(`opencode at ${base} answered ${response.status} to a reply`)
      return true
    },
    async folderOf(session) {
      const found = await read(`/session/${encodeURIComponent(session)}`)
      return isObject(found) && typeof found.directory === 'string' ? found.directory : ''
    },
    async toolPart(session, { message, id }) {
      const found = await read(`/session/${encodeURIComponent(session)}/message/${encodeURIComponent(message)}`)
      const parts = isObject(found) && Array.isArray(found.parts) ? found.parts : []
      return parts.flatMap((part) => toolPartOf(part) ?? []).find(({ callId }) => callId === id)
    },
  }
}

async function* messagesOf(body: Response['body']): AsyncGenerator<JsonObject> {
  for await (const { data } of eventsOf(body)) {
    const message: unknown = JSON.parse(data)
    if (isObject(message)) yield message
  }
}

export function permissionOf(value: JsonValue | undefined): Permission | undefined {
  if (!isObject(value)) return undefined
  const { id, sessionID: session, permission, patterns = null, metadata = null, tool } = value
  if (typeof id !== 'string' || typeof session !== 'string' || typeof permission !== 'string') return undefined
  const call =
    isObject(tool) && typeof tool.messageID === 'string' && typeof tool.callID === 'string'
      ? { message: tool.messageID, id: tool.callID }
      : undefined
  return { id, session, permission, patterns, metadata, call }
}

export function toolPartOf(part: JsonValue | undefined): ToolPart | undefined {
  if (!isObject(part) || part.type !== 'tool') return undefined
  const { sessionID: session, callID: callId, tool, state } = part
  if (typeof session !== 'string' || typeof callId !== 'string' || typeof tool !== 'string' || !isObject(state)) return undefined
  return { session, callId, tool, state }
}
