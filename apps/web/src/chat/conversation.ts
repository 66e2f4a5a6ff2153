import type { Action, Message, SessionSnapshot } from '@countersign/client'

/** One tool call as the chat draws it. `action` is absent until it is proposed, and for calls that never became one. */
export type Call = {
  id: string
  name: string
  action?: Action
  result?: string
  /** Why it never became an action: an unknown tool, invalid arguments, a change that its tool refused at once. */
  refusal?: string
}

export type Row =
  | { kind: 'user'; id: string; message: Message }
  | {
      kind: 'assistant'
      id: string
      text: string
      reasoning: string
      isStreaming: boolean
      calls: Call[]
      /** The look-ups that a remote brain reports. They are not tool calls of this server. */
      lookedUp?: Pick<Message, 'lookUps' | 'lookUpsLeftOut'>
    }
  | { kind: 'request'; id: string; text: string }
  | { kind: 'note'; id: string; message: Message }

type Parts = Pick<SessionSnapshot, 'messages' | 'streaming' | 'startedCalls' | 'actions'>

/**
 * Returns the rows of the conversation in order: each call is placed at its message, each result at its call, and unfinished messages at
 * the end. Every action is in exactly one row, also one whose message is not here.
 */
export function conversation({ messages, streaming, startedCalls, actions }: Parts): Row[] {
  const byCall = new Map<string, Action>()
  for (const action of Object.values(actions)) if (action.toolCallId) byCall.set(action.toolCallId, action)
  const results = new Map<string, string>()
  for (const message of messages) if (message.role === 'tool' && message.toolCallId) results.set(message.toolCallId, message.content)
  const placed = new Set<string>()

  const place = (action: Action): Call => {
    placed.add(action.id)
    return { id: action.toolCallId ?? action.id, name: action.tool, action }
  }
  const ofMessage = (messageId: string): Call[] =>
    Object.values(actions)
      .filter((action) => action.messageId === messageId && !placed.has(action.id))
      .map(place)

  const rows: Row[] = []
  for (const message of messages) {
    const { id } = message
    if (message.role === 'tool') continue
    if (message.role === 'user') rows.push({ kind: 'user', id, message })
    else if (message.kind === 'request') rows.push({ kind: 'request', id, text: requestText(message, actions) })
    else if (message.kind === 'note' || message.role === 'system') rows.push({ kind: 'note', id, message })
    else {
      const calls = (message.toolCalls ?? []).map((call): Call => {
        const action = byCall.get(call.id)
        const result = results.get(call.id)
        return { ...(action ? place(action) : { id: call.id, name: call.name, refusal: refusalIn(result) }), result }
      })
      const said = { text: message.content, reasoning: '', isStreaming: false, calls: [...calls, ...ofMessage(id)] }
      const { lookUps, lookUpsLeftOut } = message
      rows.push({ kind: 'assistant', id, ...said, ...(lookUps && { lookedUp: { lookUps, lookUpsLeftOut } }) })
    }
  }
  for (const { messageId, content, reasoning } of streaming) {
    rows.push({ kind: 'assistant', id: messageId, text: content, reasoning, isStreaming: true, calls: ofMessage(messageId) })
  }
  const rest = Object.values(actions)
    .filter((action) => !placed.has(action.id))
    .map(place)
  const started = startedCalls.filter((call) => !byCall.has(call.id)).map(({ id, name }): Call => ({ id, name }))
  if (rest.length + started.length > 0) {
    rows.push({ kind: 'assistant', id: 'unplaced', text: '', reasoning: '', isStreaming: false, calls: [...rest, ...started] })
  }
  return rows
}

/** Returns the sentence of a result that is an error and nothing else. */
function refusalIn(result: string | undefined): string | undefined {
  if (!result?.startsWith('{"error":')) return undefined
  try {
    const { error, ...rest } = JSON.parse(result) as { error: unknown }
    return typeof error === 'string' && Object.keys(rest).length === 0 ? error : undefined
  } catch {
    return undefined
  }
}

// Sessions of before say “reject”.
const PLEASE = /Please (look at it and )?approve or (decline|reject)( this action| each)\.$/

/** Returns the text of a request for approval. Once none of its actions waits, the last sentence, which asks people to decide, is left out. */
function requestText({ content, actionIds = [] }: Message, actions: Parts['actions']): string {
  if (actionIds.some((id) => actions[id]?.state === 'proposed')) return content
  const at = content.search(PLEASE)
  return at < 0 ? content : content.slice(0, at).trimEnd()
}

/** True for actions that get a card; a read that policy let through is one line. */
export const needsCard = (action: Action): boolean => action.effect === 'write' || action.policy.verdict === 'ask'
