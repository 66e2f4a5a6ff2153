import type { Action, TimelineEntry } from '@countersign/client'
import { STATE_WORDS } from '@countersign/react'
import { amountText } from '../dashboard/words.ts'
import { ranMs, waitedMs } from '../history/spans.ts'
import type { SpanKind } from '../story/spans.ts'

/** One line of a timeline. Its texts may be somebody else's. */
export interface Row {
  id: string
  at: string
  kind: 'message' | 'model' | 'action' | 'note'
  who: string
  what: string
  /** Tokens, state, model: in small. */
  small: string
  /** The action, for its page. */
  actionId?: string
  /** Parts of its time, in order; none for what takes no time that is known. */
  spans: { kind: SpanKind; ms: number }[]
}

/** The lines of a session, the oldest first: what people said, each model call, each action, and notes. A tool's result is in its action. */
export function rowsOf(entries: readonly TimelineEntry[], agent: string): Row[] {
  return entries.flatMap((entry): Row[] => {
    const { id, role, kind, author, content, createdAt: at, actions = [] } = entry.message
    if (role === 'user') return [{ id, at, kind: 'message', who: author?.name ?? 'Somebody', what: oneLine(content), small: '', spans: [] }]
    if (role === 'assistant' && kind === 'text') return [modelRow(entry, agent), ...actions.map(actionRow)]
    if (role === 'system') return [{ id, at, kind: 'note', who: 'Countersign', what: oneLine(content), small: '', spans: [] }]
    return []
  })
}

function modelRow({ message, call }: TimelineEntry, agent: string): Row {
  const { id, createdAt: at, content, model, actions = [], toolCalls = [] } = message
  const count = Math.max(actions.length, toolCalls.length)
  const calls = count === 0 ? '' : count === 1 ? 'One tool call' : `${count} tool calls`
  const tokens = call
    ? [
        `step ${call.step}`,
        `${call.inputTokens.toLocaleString('en')} tokens in${call.cachedInputTokens > 0 ? ` (${call.cachedInputTokens.toLocaleString('en')} from cache)` : ''}`,
        `${call.outputTokens.toLocaleString('en')} out${call.estimated ? ', estimated' : ''}`,
        call.cost ? `${amountText(call.cost.amount)} ${call.cost.currency}` : '',
        call.fellBack === null ? '' : `another model was to answer: ${call.fellBack}`,
      ]
    : []
  const small = [call?.model ?? model ?? '', ...tokens].filter(Boolean).join(' · ')
  return { id, at, kind: 'model', who: agent, what: oneLine(withoutBold(content)) || calls || 'Nothing', small, spans: [] }
}

function actionRow(action: Action): Row {
  const { id, tool, description, state, createdAt, attempt, error } = action
  const small = [tool, STATE_WORDS[state].word, attempt > 1 ? `attempt ${attempt}` : '', error?.message ?? ''].filter(Boolean).join(' · ')
  const [waited, ran] = [waitedMs(action), ranMs(action)]
  return {
    ...{ id, at: createdAt, kind: 'action', who: '', what: description, small, actionId: id },
    spans: [
      ...(waited === null ? [] : [{ kind: 'waiting' as const, ms: waited }]),
      ...(ran === null ? [] : [{ kind: 'running' as const, ms: ran }]),
    ],
  }
}

/** A model's text without the signs around bold words: they are drawn in the chat, and a line of the timeline has one weight. */
const withoutBold = (text: string): string => text.replaceAll(/\*\*(\S[^*\n]*)\*\*/g, '$1')

/** A text as one line. Nothing of it is left out: the page cuts it where the line ends. */
const oneLine = (text: string): string => text.trim().replaceAll(/[\r\n]+/g, ' ')

/** Pages of entries, the newest first, with the newest entries as they were read last at their beginning. */
export function withNewest<Page extends { items: TimelineEntry[] }>(pages: readonly Page[], newest: readonly TimelineEntry[]): Page[] {
  const ids = new Set(newest.map(({ message }) => message.id))
  return pages.map((page, at) => ({
    ...page,
    items: [...(at === 0 ? newest : []), ...page.items.filter(({ message }) => !ids.has(message.id))],
  }))
}

/** Joins pages and the newest page as it was read last: each message once, in its place. */
export function joined(pages: readonly (readonly TimelineEntry[])[]): TimelineEntry[] {
  const byId = new Map<string, TimelineEntry>()
  // A message that waited in the queue has another place since: the later page knows it.
  for (const page of pages) for (const entry of page) byId.set(entry.message.id, entry)
  return [...byId.values()].sort((a, b) => a.message.seq - b.message.seq)
}
