import { Suspense } from 'react'
import { CardButton } from './card-button.tsx'
import { EditSection } from './edit-section.tsx'
import { lazyPart } from './lazy-part.tsx'
import { clockText } from './time.ts'
import type { CardView } from './use-card-view.ts'

const RememberSection = lazyPart(async () => (await import('./remember-section.tsx')).RememberSection)

/** Shows the options before a decision: edit the arguments, approve later calls. */
export function CardForms({ view }: { view: CardView }) {
  const { shown, store, props } = view
  const { action, offers, blocked } = shown
  // The button disappears with what it does, so the focus moves to the card.
  const extend = () => {
    view.focusCard()
    store.extend()
  }
  return (
    <>
      {offers.extend && action.extendableUntil ? (
        <CardButton rest={view.resting} onClick={() => view.press(extend)}>
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
          onFocusLost={view.focusCard}
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
