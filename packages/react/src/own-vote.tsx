import type { Vote } from '@countersign/client'
import { CardButton } from './card-button.tsx'

/** Shows this person's vote, with a button to change it while further votes are missing. */
export function OwnVote({ vote: { verdict }, isChanging, onChange }: { vote: Vote; isChanging: boolean; onChange: () => void }) {
  return (
    <p className="cs-readonly">
      You {verdict === 'approve' ? 'approved' : 'declined'} this; others must decide too.{' '}
      {!isChanging && (
        <CardButton className="cs-small" onClick={onChange}>
          Change my vote
        </CardButton>
      )}
    </p>
  )
}
