import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { askUntilAnswered } from '../connect/ask-until-answered.ts'
import { type OpencodeApi, type Permission, permissionOf, type ToolPart, toolPartOf } from './opencode-api.ts'

export interface BridgeDeps {
  opencode: OpencodeApi
  /** Sends a message to the server, with a signal for a question that may be dropped. @throws Error when it cannot be asked. */
  post(body: JsonObject, signal?: AbortSignal): Promise<JsonObject>
  complain(message: string): void
  /** The wait before a message is sent again. Default: a second. */
  againMs?: number
}

export interface Bridge {
  /** Asks about the permissions that already wait. Those that no longer wait were answered while nobody listened: their cards are withdrawn. */
  catchUp(): Promise<void>
  /** Takes an event of opencode. */
  take(event: JsonObject): void
  /** Nobody listens any more. Resolves when the server knows. */
  end(): Promise<void>
}

interface Open {
  stop: AbortController
  /** Resolves with the reply that opencode announces: that of somebody else, or our own. */
  replied: PromiseWithResolvers<string>
}

/** The permissions whose name says that the tool call itself is allowed; others are about more than its input. */
const OF_THE_CALL = new Set(['bash', 'edit', 'read', 'glob', 'grep', 'list', 'webfetch', 'websearch'])
const MAX_OUTPUT_CHARS = 100_000
/** The error of a call that was under way when its turn was aborted. */
const ABORTED = 'Tool execution aborted'

/** Asks in Countersign about every permission that opencode waits for. The first answer wins: opencode takes no second one. */
export function createBridge({ opencode, post, complain, againMs = 1_000 }: BridgeDeps): Bridge {
  const tell = (body: JsonObject, signal?: AbortSignal) =>
    askUntilAnswered((stop) => post(body, stop), { ...(signal && { signal }), againMs })
  const open = new Map<string, Open>()
  /** Calls that may run, with the text of each of their permission requests. */
  const allowed = new Map<string, Set<JsonObject>>()
  const sessions = new Set<string>()
  const working = new Set<Promise<void>>()
  const keyOf = ({ session, callId }: Pick<ToolPart, 'session' | 'callId'>) => JSON.stringify([session, callId])
  const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

  function work(doing: Promise<void>): void {
    const done = doing.catch((error: unknown) => complain(sentenceOf(error)))
    working.add(done)
    void done.finally(() => working.delete(done))
  }

  async function aboutOf({ id, session, permission, patterns, metadata, call }: Permission): Promise<JsonObject> {
    const cwd = await opencode.folderOf(session)
    const part = call && (await opencode.toolPart(session, call))
    const given = part && isObject(part.state.input) ? part.state.input : undefined
    if (part && given && OF_THE_CALL.has(permission)) return { session, cwd, callId: part.callId, tool: part.tool, input: given }
    const input: JsonObject = { patterns, metadata, ...(part && { tool: part.tool, input: given ?? null }) }
    return { session, cwd, callId: id, tool: permission, input }
  }

  /** The verdict of the server. A call that the server cannot be asked about is refused. */
  async function verdictOf(about: Promise<JsonObject>, signal: AbortSignal): Promise<{ isAllowed: boolean; reason: string }> {
    try {
      const { decision, reason } = await tell({ event: 'ask', ...(await about) }, signal)
      return { isAllowed: decision === 'allow', reason: typeof reason === 'string' ? reason : 'Not allowed. Nothing was run.' }
    } catch (error) {
      return { isAllowed: false, reason: `Not allowed: Countersign could not be asked (${sentenceOf(error)}). Nothing was run.` }
    }
  }

  async function ask(permission: Permission): Promise<void> {
    const { id, session } = permission
    const key = keyOf({ session, callId: permission.call?.id ?? id })
    const asked: Open = { stop: new AbortController(), replied: Promise.withResolvers() }
    const { signal } = asked.stop
    open.set(id, asked)
    sessions.add(session)
    const about = aboutOf(permission)
    const first = await Promise.race([verdictOf(about, signal), asked.replied.promise])
    if (typeof first !== 'string') {
      if (signal.aborted) return
      // Before the reply: what came of the call may be here before its answer.
      if (first.isAllowed) allow(key, await about)
      if (await reply(id, first, asked)) return void open.delete(id)
    }
    const said = await asked.replied.promise
    if (signal.aborted) return
    if (await takeReply(await about, said)) allow(key, await about)
    else allowed.get(key)?.delete(await about)
    open.delete(id)
    asked.stop.abort()
  }

  function allow(key: string, about: JsonObject): void {
    allowed.set(key, (allowed.get(key) ?? new Set()).add(about))
  }

  /**
   * Replies to opencode, again and again where it cannot be reached: it waits for as long as it has no reply. Returns false when somebody else
   * was first, or it does not wait any more.
   */
  async function reply(id: string, { isAllowed, reason }: { isAllowed: boolean; reason: string }, { replied }: Open): Promise<boolean> {
    if (!isAllowed) complain(reason)
    for (let tries = 1; ; tries++) {
      try {
        return await opencode.reply(id, isAllowed ? { reply: 'once' } : { reply: 'reject', message: reason })
      } catch (error) {
        if (tries === 1) complain(`${sentenceOf(error)}; replying again`)
      }
      if (typeof (await Promise.race([delay(againMs), replied.promise])) === 'string') return false
    }
  }

  /** Tells the server that somebody replied in opencode. Returns true when it waits for what comes of the call. */
  async function takeReply(about: JsonObject, said: string): Promise<boolean> {
    const { reports } = await tell({ event: 'answered', ...about, allowed: said !== 'reject' })
    return reports === true && said !== 'reject'
  }

  async function report(part: ToolPart): Promise<void> {
    const { status, output, error, metadata } = part.state
    const key = keyOf(part)
    const asked = allowed.get(key)
    if (!asked || (status !== 'completed' && status !== 'error')) return
    allowed.delete(key)
    // Only a command has an exit code, and one that was killed has null.
    const { exit = 0 } = isObject(metadata) ? metadata : {}
    const text = String((status === 'error' ? error : output) ?? '')
    const isStopped = typeof exit !== 'number' || (status === 'error' && text === ABORTED)
    const body = {
      event: 'report',
      status: isStopped ? 'stopped' : status === 'completed' && exit === 0 ? 'completed' : 'failed',
      output: { exit, output: text.slice(0, MAX_OUTPUT_CHARS).toWellFormed() },
    }
    for (const about of asked) await tell({ ...body, ...about })
  }

  /** Nobody waits for the answer to this any more. */
  function drop(id: string, { stop, replied }: Open): void {
    open.delete(id)
    stop.abort()
    replied.resolve('')
  }

  return {
    async catchUp() {
      const pending = await opencode.pending()
      const ids = new Set(pending.map(({ id }) => id))
      for (const [id, asked] of open) if (!ids.has(id)) drop(id, asked)
      for (const permission of pending) if (!open.has(permission.id)) work(ask(permission))
    },
    take(event) {
      const properties = isObject(event.properties) ? event.properties : {}
      if (event.type === 'permission.asked') {
        const permission = permissionOf(properties)
        if (permission && !open.has(permission.id)) work(ask(permission))
      } else if (event.type === 'permission.replied') {
        const { requestID: id, reply } = properties
        if (typeof id === 'string') open.get(id)?.replied.resolve(String(reply))
      } else if (event.type === 'message.part.updated') {
        const part = toolPartOf(properties.part)
        if (part) work(report(part))
      }
    },
    async end() {
      for (const [id, asked] of open) drop(id, asked)
      await Promise.all(working)
      for (const session of sessions) await post({ event: 'ended', session }).catch((error: unknown) => complain(sentenceOf(error)))
    },
  }
}
