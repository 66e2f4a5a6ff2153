import type { SessionSnapshot } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { type Ref, useImperativeHandle, useMemo, useRef } from 'react'
import { useConnection } from '../live/use-connection.ts'
import { Icon } from '../ui/index.ts'
import { conversation } from './conversation.ts'
import { MessageRow } from './message-row.tsx'
import { OlderMessages } from './older-messages.tsx'
import { useKeepPlace } from './use-keep-place.ts'
import { useReasoning } from './use-reasoning.ts'
import { useStickToBottom } from './use-stick-to-bottom.ts'

export type ConversationHandle = { toEnd: () => void; toFirstWaiting: () => void }
type ConversationViewProps = { snapshot: SessionSnapshot; agent: string; onOlder: () => Promise<void>; ref: Ref<ConversationHandle> }

/** Returns a text that changes with every message, proposal and error. */
const newsOf = ({ messages, streaming, actions, session }: SessionSnapshot): string => {
  const streamed = streaming.map(({ messageId, content }) => `${messageId} ${content.length}`)
  return [messages.at(-1)?.id, ...streamed, Object.keys(actions).length, session?.status === 'error'].join()
}

/** The scrolling part of a chat, with all messages, proposals and results. */
export function ConversationView({ snapshot, agent, onOlder, ref }: ConversationViewProps) {
  const scroller = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { isBehind, toEnd, grewInFront } = useStickToBottom(scroller, content, newsOf(snapshot))
  useKeepPlace({ scroller, content, first: snapshot.messages[0]?.id, onGrown: grewInFront })
  useImperativeHandle(
    ref,
    () => ({
      toEnd,
      toFirstWaiting: () => {
        const card = content.current?.querySelector<HTMLElement>('article[data-state="proposed"]')
        card?.focus({ preventScroll: true })
        card?.scrollIntoView({ block: 'start' })
      },
    }),
    [toEnd],
  )
  const connection = useConnection(snapshot.connection)
  const { messages, streaming, startedCalls, actions } = snapshot
  const reasoning = useReasoning(streaming)
  const rows = useMemo(() => conversation({ messages, streaming, startedCalls, actions }), [messages, streaming, startedCalls, actions])
  const isWorking = snapshot.session?.status === 'active' && streaming.length === 0

  return (
    <div className="conversation-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section ref={scroller} className="conversation" aria-label="Conversation" tabIndex={0} data-testid="conversation">
        <OlderMessages state={snapshot.older} scroller={scroller} onLoad={onOlder} />
        <div ref={content} className="conversation-rows">
          {rows.map((row) => (
            <MessageRow
              key={row.id}
              row={row.kind === 'assistant' ? { ...row, reasoning: row.reasoning || (reasoning.get(row.id) ?? '') } : row}
              agent={agent}
              connection={connection}
            />
          ))}
          {isWorking && <p className="row-working muted">{showInvisible(agent)} is working…</p>}
          {snapshot.session?.status === 'error' && (
            <p className="row-error" data-testid="run-error">
              <Icon name="alert" size={14} />
              <span>{showInvisible(snapshot.runError?.error ?? 'The last run stopped with an error.')} Write again to go on.</span>
            </p>
          )}
        </div>
      </section>
      {isBehind && (
        <button type="button" className="pill to-end" onClick={toEnd} data-testid="new-messages">
          <Icon name="down" size={14} />
          New messages
        </button>
      )}
    </div>
  )
}
