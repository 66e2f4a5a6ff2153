import type { JsonObject } from '@countersign/core'
import { askUntilAnswered } from '../connect/ask-until-answered.ts'
import type { Asked, AskedCall, Dialect, Ended, ServerMessage } from './dialect.ts'
import { keyOf, lineOf } from './messages.ts'

export interface PermissionDeps {
  dialect: Dialect
  /** Sends a message to the server, with a signal for a question that may be dropped. @throws Error when it cannot be asked. */
  post(body: JsonObject, signal?: AbortSignal): Promise<JsonObject>
  toAgent(line: Buffer): void
  toEditor(line: Buffer): void
  complain(message: string): void
  /** The wait before a message is sent again. Default: a second. */
  againMs?: number
}

/** Permission requests that are open in the editor and in Countersign. */
export interface Permissions {
  /** Opens a request of the agent in both places. */
  ask(request: JsonObject, line: Buffer): void
  /** Takes an answer of the editor. Returns false for one that is about something else. */
  answer(answer: JsonObject, line: Buffer): boolean
  /** The agent does not need the answer any more. */
  cancel(id: string): void
  /** The agent changed a call. While people are asked about it, it is refused: they would approve something else. */
  changed(call: AskedCall): void
  /** The agent uses the id of an earlier request for another message, so an answer of the editor may be to that one. */
  useAnew(id: string): void
  /** The agent says what came of a call. */
  report(ended: Ended): void
  /** Nobody answers any more. Resolves when the server knows. */
  end(): Promise<void>
}

interface Open extends Asked {
  request: JsonObject
  stop: AbortController
  /** The editor has allowed it, and the server is told. */
  isAnswering: boolean
}

/** The first answer wins, and the other prompt closes. The editor's permission counts once the server has recorded it. */
export function createPermissions({ dialect, post, toAgent, toEditor, complain, againMs }: PermissionDeps): Permissions {
  const tellOnce = async (message: ServerMessage, signal?: AbortSignal) => dialect.fromServer(await post(dialect.toServer(message), signal))
  const tell = (message: ServerMessage, signal?: AbortSignal) =>
    askUntilAnswered((stop) => tellOnce(message, stop), { ...(signal && { signal }), againMs })
  const open = new Map<string, Open>()
  /** Requests that have their answer: each further one of the editor is dropped, because the agent may read it as the one that counts. */
  const closed = new Set<string>()
  /** Calls that may run, with the text of their permission requests. */
  const allowed = new Map<string, JsonObject>()
  const sessions = new Set<string>()
  const reports = new Set<Promise<void>>()

  const callKey = ({ session, callId }: AskedCall) => JSON.stringify([session, callId])
  const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

  function refuse(request: JsonObject, reason: string): void {
    complain(reason)
    toAgent(lineOf(dialect.answer(request, false, reason)))
  }

  /** True for the first answer to a request. */
  function settle(id: string): boolean {
    if (!open.delete(id)) return false
    closed.add(id)
    const [oldest] = closed
    if (closed.size > MAX_CLOSED && oldest !== undefined) closed.delete(oldest)
    return true
  }

  /** Countersign's answer: to the agent, and the editor's prompt is taken back. */
  function settleHere(id: string, asked: Open, isAllowed: boolean, reason?: string): void {
    if (!settle(id)) return
    if (isAllowed) allowed.set(callKey(asked), asked.about)
    else if (reason !== undefined) complain(reason)
    const { request } = asked
    toAgent(lineOf(dialect.answer(request, isAllowed, reason)))
    const closing = dialect.closePrompt(request)
    if (closing) toEditor(lineOf(closing))
  }

  /** Refuses an open request, and withdraws its card. */
  function refuseOpen(id: string, asked: Open, reason: string): void {
    settleHere(id, asked, false, reason)
    asked.stop.abort()
  }

  async function askServer(id: string, asked: Open): Promise<void> {
    try {
      const { decision, reason } = await tell({ event: 'ask', about: asked.about }, asked.stop.signal)
      // The card was closed by the editor's permission: whether that counts is in the other answer.
      if (decision !== 'allow' && asked.isAnswering) return
      settleHere(id, asked, decision === 'allow', typeof reason === 'string' ? reason : undefined)
    } catch (error) {
      if (!asked.isAnswering)
        settleHere(id, asked, false, `Not allowed: Countersign could not be asked (${sentenceOf(error)}). Nothing was run.`)
    }
  }

  /** The answer of the editor. Only a known permission allows the call, when the server accepts it; all else refuses it at once. */
  async function takeEditors(id: string, asked: Open, answer: JsonObject, line: Buffer): Promise<void> {
    const { is, said } = dialect.readAnswer(answer, asked.request)
    const isAllowed = is === 'allowed'
    if (is === 'declined' && settle(id)) toAgent(line)
    if (is === 'unclear' && settle(id))
      refuse(asked.request, `Not allowed: the editor answered with ${said}, which is no known permission.`)
    asked.isAnswering = isAllowed
    try {
      const words = said === undefined ? {} : { said }
      const { accepted, reports: isReported } = await tell({ event: 'answered', about: asked.about, allowed: isAllowed, ...words })
      if (!isAllowed || !settle(id)) return
      if (accepted === true) {
        if (isReported === true) allowed.set(callKey(asked), asked.about)
        toAgent(line)
      } else refuse(asked.request, 'Not allowed: Countersign refuses this call, so the permission of the editor does not count.')
    } catch (error) {
      if (isAllowed && settle(id))
        refuse(asked.request, `Not allowed: Countersign could not be told (${sentenceOf(error)}). Nothing was run.`)
    } finally {
      asked.stop.abort()
    }
  }

  return {
    ask(request, line) {
      const id = keyOf(request.id)
      const other = open.get(id)
      // The answer to one of them could be read as that to the other.
      if (other) {
        refuseOpen(id, other, USED_TWICE)
        return refuse(request, USED_TWICE)
      }
      const read = dialect.read(request)
      if (typeof read === 'string') return refuse(request, `Not allowed: ${read}`)
      const asked = { ...read, request, stop: new AbortController(), isAnswering: false }
      sessions.add(read.session)
      closed.delete(id)
      open.set(id, asked)
      toEditor(line)
      void askServer(id, asked)
    },
    answer(answer, line) {
      const id = keyOf(answer.id)
      const asked = open.get(id)
      // A second answer while the first one is recorded does not count.
      if (asked && !asked.isAnswering) void takeEditors(id, asked, answer, line)
      return asked !== undefined || closed.has(id)
    },
    cancel(id) {
      const asked = open.get(id)
      if (!asked || !settle(id)) return
      asked.stop.abort()
      if (dialect.answersTakenBack) toAgent(lineOf(dialect.answer(asked.request, false, 'The agent cancelled its request.')))
    },
    changed(call) {
      for (const [id, asked] of open) if (callKey(asked) === callKey(call)) refuseOpen(id, asked, CHANGED)
    },
    useAnew: (id) => void closed.delete(id),
    report(ended) {
      const key = callKey(ended)
      const about = allowed.get(key)
      if (!about) return
      allowed.delete(key)
      const sent = tell({ event: 'report', about, status: ended.status, output: cut(ended.output) }).then(
        () => undefined,
        (error: unknown) => complain(`what came of a call could not be stored: ${sentenceOf(error)}`),
      )
      reports.add(sent)
      void sent.finally(() => reports.delete(sent))
    },
    async end() {
      const waiting = [...open.values()]
      open.clear()
      for (const { stop } of waiting) stop.abort()
      await Promise.all(reports)
      const ended = [...sessions].map((session) => tellOnce({ event: 'ended', session }))
      for (const { reason } of (await Promise.allSettled(ended)).filter((one) => one.status === 'rejected')) complain(sentenceOf(reason))
    },
  }
}

const MAX_OUTPUT_CHARS = 100_000
const MAX_CLOSED = 10_000
const USED_TWICE = 'Not allowed: the agent has two requests open under one id, so an answer could be read as that to the other.'
const CHANGED = 'Not allowed: the agent changed this call while people were asked about it. Ask again.'

function cut(output: JsonObject[string]): JsonObject[string] {
  try {
    const text = JSON.stringify(output)
    return text.length <= MAX_OUTPUT_CHARS ? output : `${text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}… (cut)`
  } catch {
    return 'The report is nested too deep and was left out.'
  }
}
