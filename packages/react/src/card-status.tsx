import { charsText } from './card/card-facts.ts'
import { CardButton } from './card-button.tsx'
import { loadAgain } from './card-parts.ts'
import { withEdits } from './edits.ts'
import { showInvisible } from './show-text.ts'
import type { CardView } from './use-card-view.ts'

/** Shows the result of the last press of a button. */
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
    // Evidence that loads in a moment does not move the card.
    <div className={evidence === 'loading' ? 'cs-hidden' : 'cs-paused'}>
      <p id={`${id}-why`} aria-live="polite">
        {blocked ?? (leftChars === 0 ? 'Everything was shown.' : `${charsText(leftChars)} are still hidden.`)}
      </p>
      {evidence === 'failed' && (
        <CardButton
          className="cs-small"
          onClick={() => {
            focusCard()
            loadAgain(shown.action)
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
