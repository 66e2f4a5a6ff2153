import { lazy, Suspense } from 'react'
import type { Rest } from './card-button.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { Edits } from './edit-section.tsx'
import { withEdits } from './edits.ts'
import { showInvisible } from './show-text.ts'
import type { CardView } from './use-card-view.ts'
import { RISK_WORDS } from './words.ts'

// Where it cannot be loaded, nothing is reported; the card is as good without it.
const ReportSeen = lazy(() => import('./report-seen.tsx').catch(() => ({ default: () => null })))

/** Renders the open dialog of a card, and reports that the card was seen. */
export const CardDialogs = ({ view }: { view: CardView }) => (
  <>
    <OpenDialog view={view} />
    {view.props.onSeen ? (
      <Suspense>
        <ReportSeen view={view} />
      </Suspense>
    ) : null}
  </>
)

/** The second step before an action of high risk is approved, or before later calls are approved automatically. */
function OpenDialog({ view: { shown, store, focusCard } }: { view: CardView }) {
  const { state, action, edits, edited, grantWords, blocked } = shown
  const resting: Rest = shown.rest || (blocked ? 'blocked' : '')
  const common = { action, resting, onCancel: () => store.back(), onLeave: focusCard }
  if (state === 'granting') {
    return (
      <ConfirmDialog {...common} title="Approve, and don’t ask again?" onConfirm={() => store.confirmGrant()}>
        <p>{grantWords}. It can be revoked at any time.</p>
      </ConfirmDialog>
    )
  }
  if (state !== 'confirming') return null
  const title = `Approve${withEdits(edits)}: ${showInvisible(action.description)}?`
  return (
    // A person types the name of what would run, which an edit may have changed.
    <ConfirmDialog {...common} action={{ ...action, arguments: edited }} title={title} onConfirm={() => store.approve()}>
      <p>
        {RISK_WORDS[action.risk.level]}. Runs <code>{showInvisible(action.tool)}</code> at {showInvisible(action.destination)}.
      </p>
      {edits.length === 0 ? null : <Edits edits={edits} />}
    </ConfirmDialog>
  )
}
