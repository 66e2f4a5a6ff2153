import { assert, type ModelMessage, type ModelToolCall, type ToolCall } from '@countersign/core'
import { LRUCache } from 'lru-cache'
import { historyAfter, historyAtStep, type MessageRow, principals, type RunRow, type SessionState, type Store } from '../store/index.ts'
import type { Agent } from './agent.ts'
import { asCalled } from './catalogue/index.ts'

/** Sessions whose history is kept in memory: at turn 100 reading it again costs more than the rest of the cycle. */
const MAX_CACHED = 500

interface Cached {
  upTo: number
  messages: ModelMessage[]
  callIds: Set<string>
  user: { id: string; name: string } | undefined
}

export interface History {
  messages: readonly ModelMessage[]
  /** The ids of all its tool calls. */
  callIds: ReadonlySet<string>
  /** Returns the author of the newest message of a person or program; undefined when it is not known. */
  user: { readonly id: string; readonly name: string } | undefined
}

/** The model's view of sessions. Rows are the truth: a history only ever grows, so a cached one is read on from where it ends. */
export interface Histories {
  /**
   * Undefined when the run has made this step, or has ended: then no model is called with this history.
   * @param written The session as it was written last; it is read from the database where this does not have all of it.
   */
  read(store: Store, run: RunRow, agent: Agent, written?: SessionState): Promise<History | undefined>
}

export function createHistories(): Histories {
  const cache = new LRUCache<string, Cached>({ max: MAX_CACHED })
  return {
    async read(store, run, agent, written) {
      const sessionId = run.session_id
      const known = cache.get(sessionId) ?? { upTo: 0, messages: [], callIds: new Set(), user: undefined }
      const place = { session_id: sessionId, run_id: run.id, steps: run.steps, after: known.upTo }
      // A process that stood still since it looked may be behind others by whole steps.
      const rows = (written && historyAfter(written, known.upTo)) ?? (await store.read(() => historyAtStep(place)))
      if (!rows) return undefined
      const author = rows.findLast(({ role, author_id }) => role === 'user' && author_id !== null)?.author_id ?? known.user?.id
      // Read by itself: as part of the same read, both would need a transaction.
      const writer = author && author !== known.user?.id ? await store.read(() => principals.principalById(author)) : undefined
      const user = writer ? { id: writer.id, name: writer.name } : known.user
      const next: Cached = { ...known, upTo: rows.at(-1)?.seq ?? known.upTo, messages: appendHistory(known.messages, rows, agent), user }
      for (const { tool_calls } of rows) for (const call of readCalls(tool_calls)) next.callIds.add(call.id)
      cache.set(sessionId, next)
      return next
    },
  }
}

/** Appends rows in history order; the results of a step are put in the order of its calls, whatever order they were decided in. */
function appendHistory(known: readonly ModelMessage[], rows: readonly MessageRow[], agent: Agent): ModelMessage[] {
  const history = [...known]
  const nameOf = (name: string) => agent.tools.find((tool) => tool.name === name)?.modelName ?? safeName(name)
  const asSaid = (call: ToolCall): ModelToolCall => {
    const { name, arguments: args } = asCalled(agent, call)
    return { id: call.id, name: nameOf(name), arguments: args }
  }
  for (const row of rows) {
    if (row.role === 'user') history.push({ role: 'user', content: row.content })
    else if (row.role === 'system')
      history.push({ role: 'user', content: `[A note of the approval system, not of the person: ${row.content}]` })
    else if (row.role === 'assistant') history.push(assistantMessage(row, asSaid))
    else insertResult(history, row)
  }
  return history
}

const readCalls = (text: string | null): ToolCall[] => (text === null ? [] : JSON.parse(text))

function assistantMessage(row: MessageRow, asSaid: (call: ToolCall) => ModelToolCall): ModelMessage {
  const toolCalls = readCalls(row.tool_calls).map(asSaid)
  return {
    role: 'assistant',
    content: row.content,
    toolCalls,
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.payload === null ? {} : { providerData: JSON.parse(row.payload) }),
  }
}

function insertResult(history: ModelMessage[], row: MessageRow): void {
  assert(row.tool_call_id !== null && row.payload !== null, `tool message ${row.id} names its call and outcome`)
  const at = history.findLastIndex(
    (message) => message.role === 'assistant' && message.toolCalls.some((call) => call.id === row.tool_call_id),
  )
  const step = history[at]
  assert(step?.role === 'assistant', `tool message ${row.id} follows its call`)
  const rank = (id: string) => step.toolCalls.findIndex((call) => call.id === id)
  let place = at + 1
  for (let next = history[place]; next?.role === 'tool' && rank(next.toolCallId) < rank(row.tool_call_id); next = history[++place]);
  const toolName = step.toolCalls[rank(row.tool_call_id)]?.name ?? ''
  history.splice(place, 0, { role: 'tool', toolCallId: row.tool_call_id, toolName, outcome: JSON.parse(row.payload) })
}

/** A name that a model made up, in the characters that every provider takes back. */
const safeName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown'
