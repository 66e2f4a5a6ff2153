import { type Action, createClient, type GrantSuggestion } from '@countersign/client'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import {
  ApprovalCard,
  type ApprovalCardProps,
  ApprovalInbox,
  CardAnnouncer,
  type DecisionDetails,
  type EditorSlot,
  loadMarks,
  type Outcome,
  type Verdict,
} from '../index.ts'
import '../card.css'

export type Shown = Omit<
  ApprovalCardProps,
  | 'now'
  | 'onDecide'
  | 'onRetry'
  | 'onVerify'
  | 'onResolve'
  | 'onCarryOut'
  | 'onUndo'
  | 'onExtend'
  | 'editor'
  | 'onSuggest'
  | 'onLookAgain'
  | 'onSeen'
> & {
  /** With a field for the JSON of the arguments. */
  withEditor?: boolean
  suggestion?: GrantSuggestion
  /** The result of a second check. */
  seenAgain?: Action
  withRetry?: boolean
  /** With the report that the card was seen. */
  withSeen?: boolean
  /** With the calls behind an unknown outcome and a client's execution. */
  withOutcomes?: boolean
}
export type Call = {
  actionId: string
  verdict: Verdict | 'retry' | 'verify' | 'carry out' | 'undo' | 'extend' | 'seen' | Outcome
  details?: DecisionDetails
  note?: string
  /** Of an outcome: the attempt that it is about. */
  attempt?: number
}
/** How the page's stand-in for the server answers: takes it, keeps it waiting, or refuses with this. */
export type Reply =
  | { kind: 'take' }
  | { kind: 'hang' }
  | { kind: 'refuse'; error: { code: string; message: string; action?: Action; issues?: { path: string; message: string }[] } }

export type CardPage = {
  show: (cards: Shown[]) => void
  /** Shows the inbox of a client without a key, whose server is this page's own. */
  showInbox: () => void
  /** Begins the announcements anew: what the page shows by now is their first content. */
  listenAnew: () => void
  loadMarks: () => Promise<void>
  /** Height of what stands above the cards. */
  setAbovePx: (px: number) => void
  reply: Reply
  calls: Call[]
  sent: string[]
}

declare global {
  interface Window {
    cardPage: CardPage
  }
}

function JsonField({ value, onChange }: EditorSlot) {
  const [text, setText] = useState(JSON.stringify(value))
  const read = (given: string) => {
    setText(given)
    try {
      onChange(JSON.parse(given))
    } catch {
      onChange(undefined)
    }
  }
  return (
    <label>
      Arguments
      <textarea value={text} onChange={(event) => read(event.currentTarget.value)} />
    </label>
  )
}

const client = createClient()

function App({ nowMs }: { nowMs: number }) {
  const [cards, setCards] = useState<Shown[]>([])
  const [abovePx, setAbovePx] = useState(0)
  const [round, setRound] = useState(0)
  const [hasInbox, setHasInbox] = useState(false)
  // Runs synchronously with all effects, so that the test never sees the previous page.
  window.cardPage.show = (shown) => flushSync(() => setCards(shown))
  window.cardPage.showInbox = () => flushSync(() => setHasInbox(true))
  window.cardPage.listenAnew = () => flushSync(() => setRound((before) => before + 1))
  window.cardPage.setAbovePx = (px) => flushSync(() => setAbovePx(px))
  const answer = async (call: Call) => {
    window.cardPage.calls.push(call)
    const { reply } = window.cardPage
    if (reply.kind === 'hang') await new Promise(() => {})
    if (reply.kind === 'refuse') throw Object.assign(new Error(reply.error.message), reply.error)
  }
  return (
    <main>
      <h1>Cards</h1>
      <div style={{ height: abovePx }} />
      {hasInbox ? <ApprovalInbox client={client} /> : null}
      <div className="list" style={{ display: 'grid', gap: 16 }}>
        {cards.map(({ withRetry, withOutcomes, withEditor, suggestion, seenAgain, withSeen, ...card }) => (
          <ApprovalCard
            key={card.action.id}
            {...card}
            headingLevel={2}
            now={() => nowMs}
            onDecide={(verdict, details) => answer({ actionId: card.action.id, verdict, details })}
            onRetry={withRetry ? () => answer({ actionId: card.action.id, verdict: 'retry' }) : undefined}
            {...(withEditor ? { editor: (slot) => <JsonField {...slot} /> } : {})}
            {...(suggestion ? { onSuggest: async () => suggestion } : {})}
            {...(withSeen ? { onSeen: ({ revision }) => answer({ actionId: card.action.id, verdict: 'seen', note: `${revision}` }) } : {})}
            {...(seenAgain ? { onLookAgain: async () => seenAgain } : {})}
            {...(withOutcomes
              ? {
                  onVerify: () => answer({ actionId: card.action.id, verdict: 'verify' }),
                  onResolve: (outcome: Outcome, note: string, attempt?: number) =>
                    answer({ actionId: card.action.id, verdict: outcome, note, ...(attempt && { attempt }) }),
                  onUndo: () => answer({ actionId: card.action.id, verdict: 'undo' }),
                  onExtend: () => answer({ actionId: card.action.id, verdict: 'extend' }),
                  onCarryOut: () => answer({ actionId: card.action.id, verdict: 'carry out' }),
                }
              : {})}
          />
        ))}
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const field = event.currentTarget.elements.namedItem('message') as HTMLInputElement
          window.cardPage.sent.push(field.value)
          field.value = ''
        }}
      >
        <input name="message" aria-label="Message" />
      </form>
      <CardAnnouncer
        key={round}
        actions={cards.map((card) => card.action)}
        hasKeys={({ id }) => cards.some(({ action, shortcuts }) => action.id === id && shortcuts !== false)}
      />
    </main>
  )
}

window.cardPage = {
  show: () => {},
  showInbox: () => {},
  listenAnew: () => {},
  loadMarks,
  setAbovePx: () => {},
  reply: { kind: 'take' },
  calls: [],
  sent: [],
}
const root = document.getElementById('root')
if (root) createRoot(root).render(<App nowMs={Number(root.dataset.now)} />)
