import { lacksChanges } from '@countersign/core/text'
import { type ReactNode, useRef, useState } from 'react'
import { NOT_LOADED } from './card/card-facts.ts'
import type { ApprovalCardStore, LoadedCard } from './card/create-approval-card.ts'
import { useApprovalCard } from './card/use-approval-card.ts'
import { CardButton } from './card-button.tsx'
import { evidenceOf, MORE, needsMarks, useParts } from './card-parts.ts'
import type { ApprovalCardProps } from './card-props.ts'
import { CardStatus, Unread } from './card-status.tsx'
import { DecideRow } from './decide-row.tsx'
import { Essentials } from './evidence.tsx'
import { OpenedTexts } from './opened-texts.ts'
import { outcomeText } from './outcome.ts'
import { OwnVote } from './own-vote.tsx'
import { SETTLED } from './settled-part.ts'
import { showInvisible } from './show-text.ts'
import { Identity, StateMark } from './status-bar.tsx'
import { spanText } from './time.ts'
import { type CardView, cardKeys, useCardView } from './use-card-view.ts'
import { SEEN_MARK } from './use-seen.ts'

/**
 * One action of an agent, for a person to judge and decide; after that, its outcome in one line with the details behind it. It
 * shows only what the server said, takes no focus by itself, and every text on it is plain. Needs `@countersign/react/card.css`.
 * For a card of your own with the same logic: {@link useApprovalCard}.
 *
 * @example
 * <ApprovalCard
 *   action={action}
 *   me={me}
 *   connection={connection.kind}
 *   onDecide={(verdict, details) => client.actions.decide(action.id, { verdict, ...details })}
 *   onRetry={() => client.actions.retry(action.id)}
 * />
 */
export function ApprovalCard(props: ApprovalCardProps) {
  const isOdd = useRef(false)
  // The press reads it again: what was drawn last may say more than what the store was told then.
  const [shown, store] = useApprovalCard({ ...props, evidence: (action) => evidenceOf(action, isOdd.current) })
  isOdd.current = shown.state !== 'loading' && hasOddWords(props, shown)
  useParts(shown.state === 'loading' ? undefined : shown.action, isOdd.current)
  return shown.state === 'loading' ? null : <LoadedApprovalCard props={props} shown={shown} store={store} />
}

/** True where something on the card that is no part of the action has names to mark. */
const hasOddWords = ({ agentSays, me, standsFor }: ApprovalCardProps, { notice, refusal, issues, edits }: LoadedCard): boolean =>
  needsMarks([agentSays, me?.name, standsFor, notice, refusal, issues, edits], edits)

function LoadedApprovalCard({ props, shown, store }: { props: ApprovalCardProps; shown: LoadedCard; store: ApprovalCardStore }) {
  const view = useCardView(props, shown, store)
  const more = MORE.get().module
  return (
    <OpenedTexts.Provider value={shown.opened}>
      <CardFrame view={view}>
        <Judgement view={view} />
        <Voters view={view} />
        {shown.canDecide && <Unread view={view} />}
        <div className="cs-foot">
          {!view.isSettled && <Details view={view} />}
          <CardStatus view={view} />
        </div>
        {shown.canDecide && <DecideRow key={shown.action.id} view={view} />}
        {more && <more.CardDialogs view={view} />}
      </CardFrame>
    </OpenedTexts.Provider>
  )
}

/** The box, what it is called and described by, its keys, and the headline. */
function CardFrame({ view, children }: { view: CardView; children: ReactNode }) {
  const { action } = view.shown
  const { id, isSettled } = view
  const isWaiting = action.state === 'proposed'
  const overdueId = isWaiting && action.overdue ? `${id}-overdue` : ''
  const expiryId = isWaiting && action.expiresAt !== null ? `${id}-expiry` : ''
  const Heading = `h${view.props.headingLevel ?? 3}` as const
  return (
    <article
      ref={view.card}
      className="cs-card"
      data-testid="approval-card"
      data-state={action.state}
      data-risk={action.risk.level}
      data-overdue={overdueId !== '' || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a card is a stop of its own, so that a keyboard reaches it before its buttons
      tabIndex={0}
      aria-labelledby={`${id}-title`}
      aria-describedby={isSettled ? undefined : [overdueId, `${id}-risk`, expiryId].filter(Boolean).join(' ')}
      {...cardKeys(view)}
    >
      {overdueId !== '' && (
        <p id={overdueId} className="cs-overdue">
          Overdue: undecided for {spanText(view.nowMs - Date.parse(action.createdAt))}
        </p>
      )}
      <p className="cs-bar">
        <StateMark action={action} />
        {!isSettled && <Identity action={action} nowMs={view.nowMs} riskId={`${id}-risk`} />}
      </p>
      <Heading id={`${id}-title`} className="cs-title" dir="auto" {...SEEN_MARK}>
        {showInvisible(action.description)}
      </Heading>
      {children}
    </article>
  )
}

/** Shows what has to be seen before the decision, or the outcome with all evidence in a disclosure, and the button of an action that this page executes. */
function Judgement({ view }: { view: CardView }) {
  const { shown, store, nowMs, isSettled } = view
  const { action, offers } = shown
  // The button disappears with what it does, so the focus moves to the card.
  const leave = (does: 'undo' | 'carryOut') => () =>
    view.press(() => {
      view.focusCard()
      store[does]()
    })
  const essentials = (
    <Essentials
      action={action}
      nowMs={nowMs}
      expiryId={`${view.id}-expiry`}
      viewer={view.props.me?.id ?? ''}
      onLookAgain={offers.lookAgain ? () => store.lookAgain() : undefined}
    />
  )
  if (isSettled) {
    const { state, module } = SETTLED.get()
    if (module) return <module.Settled view={view}>{essentials}</module.Settled>
    return (
      <>
        <p className="cs-outcome">{outcomeText(action, nowMs)}</p>
        {state === 'failed' && essentials}
      </>
    )
  }
  return (
    <>
      {essentials}
      <div className="cs-seen-end" {...SEEN_MARK} />
      {action.state !== 'proposed' && <p className="cs-outcome">{outcomeText(action, nowMs)}</p>}
      {(offers.undo || offers.carryOut) && (
        <div ref={view.row} className="cs-buttons">
          {offers.undo && (
            <CardButton rest={view.resting} onClick={leave('undo')}>
              Undo
            </CardButton>
          )}
          {offers.carryOut && (
            <CardButton rest={view.resting} onClick={leave('carryOut')}>
              Carry out here
            </CardButton>
          )}
        </div>
      )}
    </>
  )
}

/** Everything else, behind one disclosure: the rest of the evidence, and what can be done besides the decision. Open by itself where nothing else shows the values. */
function Details({ view }: { view: CardView }) {
  const { action, edits, issues } = view.shown
  const [chosen, setChosen] = useState<boolean>()
  const { state, module } = MORE.get()
  const open = chosen ?? (lacksChanges(action.preview) || edits.length > 0 || issues.length > 0)
  return (
    <details className="cs-more" open={open} onToggle={({ currentTarget }) => currentTarget.open !== open && setChosen(currentTarget.open)}>
      <summary>Details</summary>
      {module ? (
        <>
          <module.Background view={view} />
          <module.CardForms view={view} />
        </>
      ) : (
        <p className="cs-note">{state === 'failed' ? NOT_LOADED : 'Loading…'}</p>
      )}
    </details>
  )
}

/** Shows who may decide, this person's vote, and whether decisions are paused. */
function Voters({ view: { shown, store, focusCard } }: { view: CardView }) {
  const { refusal, ownVote, isChangingVote, canDecide, paused } = shown
  const change = () => {
    focusCard()
    store.changeVote()
  }
  return (
    <>
      {refusal !== null && <p className="cs-readonly">{showInvisible(refusal)}</p>}
      {ownVote && <OwnVote vote={ownVote} isChanging={isChangingVote} onChange={change} />}
      {canDecide && paused !== null && <p className="cs-paused">{paused}</p>}
    </>
  )
}
