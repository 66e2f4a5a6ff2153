import { showInvisible } from '@countersign/core/text'
import { Suspense } from 'react'
import { charsText } from './card/card-facts.ts'
import { CardButton } from './card-button.tsx'
import { DIFF } from './diff-part.ts'
import { EditSection } from './edit-section.tsx'
import { withEdits } from './edits.ts'
import { lazyPart } from './lazy-part.tsx'
import { clockText } from './time.ts'
import type { CardView } from './use-card-view.ts'

const RememberSection = lazyPart(async () => (await import('./remember-section.tsx')).RememberSection)

/** Shows the options before a decision: edit the arguments, approve later calls. */
export function CardForms({ view }: { view: CardView }) {
  const { shown, store, props } = view
  const { action, offers, blocked } = shown
  return (
    <>
      {offers.extend && action.extendableUntil ? (
        <CardButton rest={view.resting} onClick={() => view.press(() => store.extend())}>
          Extend until {clockText(action.extendableUntil, view.nowMs)}
        </CardButton>
      ) : null}
      {shown.canDecide && props.editor ? (
        <EditSection
          editor={props.editor}
          action={action}
          value={shown.edited}
          onChange={(value) => store.edit(value)}
          issues={shown.issues}
          edits={shown.edits}
          isBroken={shown.isBroken}
        />
      ) : null}
      {offers.suggest && props.onSuggest && view.seen.isSeen ? (
        <Suspense fallback={null}>
          <RememberSection
            action={action}
            onSuggest={props.onSuggest}
            resting={view.resting || (blocked === null ? '' : 'blocked')}
            onChoose={(terms, words) => store.chooseGrant(terms, words)}
          />
        </Suspense>
      ) : null}
    </>
  )
}

/** What became of the last press. */
export const CardStatus = ({ view }: { view: CardView }) => (
  <p role="status" className="cs-status">
    {statusText(view, view.ignored)}
  </p>
)

/** Shows what must be loaded, read or completed before approval, with a link to it. */
export function Unread({ view: { shown, card, id, focusCard } }: { view: CardView }) {
  const { blocked, evidence } = shown
  const { isHidden, leftChars, next, wasHidden } = shown.reading
  if (blocked === null && !wasHidden) return null
  return (
    <div className="cs-paused">
      <p id={`${id}-why`} aria-live="polite">
        {blocked ?? (leftChars === 0 ? 'Everything was shown.' : `${charsText(leftChars)} are still hidden.`)}
      </p>
      {evidence === 'failed' && (
        <CardButton
          className="cs-small"
          onClick={() => {
            focusCard()
            DIFF.start()
          }}
        >
          Try again
        </CardButton>
      )}
      {isHidden && evidence === 'ready' && next !== undefined ? (
        <CardButton className="cs-small" onClick={() => goTo(card.current, next)}>
          Go to hidden text
        </CardButton>
      ) : null}
    </div>
  )
}

/** Puts the focus on a part of the card: its button, or the box in which it scrolls. */
function goTo(card: HTMLElement | null, path: string): void {
  const parts = [...(card?.querySelectorAll<HTMLElement>('[data-part]') ?? [])]
  const part = parts.find((element) => element.dataset.part === path)
  for (let at = part?.parentElement?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true
  part?.focus()
}

function statusText({ shown: { state, notice, edits, action } }: CardView, ignored: string): string {
  if (state === 'sending') return 'Sending…'
  if (state === 'sent') return 'Sent. Waiting for the server.'
  if (state === 'armed') return `Press Enter to approve${withEdits(edits)}: ${showInvisible(action.description)}`
  return ignored || notice
}
