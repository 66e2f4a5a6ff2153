import type { ConnectionState, Message } from '@countersign/client'
import { showInvisible, showProse } from '@countersign/react'
import { ActionCard } from '../action/action-card.tsx'
import { useServices } from '../services.tsx'
import { Icon } from '../ui/index.ts'
import { needsCard, type Row } from './conversation.ts'
import { LookUpLines } from './look-up-lines.tsx'
import { ModelText } from './model-text.tsx'
import { ShownCard } from './shown-cards.tsx'
import { ToolLine } from './tool-line.tsx'

/** One entry of the conversation. */
export function MessageRow({ row, agent, connection }: { row: Row; agent: string; connection: ConnectionState }) {
  const { me } = useServices()
  switch (row.kind) {
    case 'user':
      return (
        <div className="row-user" data-testid="message" data-role="user">
          <Author author={row.message.author} isMine={row.message.author === undefined || row.message.author.id === me.id} />
          <p className="plain-text">{showProse(row.message.content)}</p>
          {row.message.queued && (
            <p className="row-queued" data-testid="queued">
              <Icon name="clock" size={13} /> Queued: {showInvisible(agent)} reads it when the run before it has ended.
            </p>
          )}
        </div>
      )
    case 'assistant':
      return <AssistantRow row={row} agent={agent} connection={connection} />
    case 'request':
    case 'note':
      return (
        <p className="row-note" data-testid="message" data-role={row.kind}>
          <Icon name={row.kind === 'request' ? 'clock' : 'chat'} size={14} />
          <span className="plain-text">{showProse(row.kind === 'request' ? row.text : row.message.content)}</span>
        </p>
      )
  }
}

/** Names the author of a message. One's own messages say so to screen readers only. */
function Author({ author, isMine }: { author: Message['author']; isMine: boolean }) {
  if (isMine || !author) return <span className="visually-hidden">You wrote:</span>
  return (
    <p className="row-author" data-testid="author">
      {showInvisible(author.name)}
      <span className="visually-hidden"> wrote:</span>
    </p>
  )
}

type AssistantRowProps = { row: Extract<Row, { kind: 'assistant' }>; agent: string; connection: ConnectionState }

function AssistantRow({ row, agent, connection }: AssistantRowProps) {
  return (
    <div className="row-assistant" data-testid="message" data-role="assistant" data-streaming={row.isStreaming}>
      <span className="visually-hidden">{showInvisible(agent)} wrote:</span>
      {row.reasoning && (
        <details className="reasoning">
          <summary>
            <Icon name="chevron" size={12} />
            Reasoning
          </summary>
          <p className="plain-text">{showProse(row.reasoning)}</p>
        </details>
      )}
      {row.lookedUp && <LookUpLines {...row.lookedUp} />}
      {row.text && <ModelText text={row.text} />}
      {row.isStreaming && !row.text && <p className="muted">Writing…</p>}
      {row.calls.map((call) =>
        call.action && needsCard(call.action) ? (
          <ShownCard key={call.id} action={call.action}>
            <ActionCard action={call.action} connection={connection} linkSession={false} />
          </ShownCard>
        ) : (
          <ToolLine key={call.id} call={call} />
        ),
      )}
    </div>
  )
}
