import type { Vote } from '@countersign/client'

/** What this person voted, and the way to another vote while others are waited for. */
export function OwnVote({ vote: { verdict }, isChanging, onChange }: { vote: Vote; isChanging: boolean; onChange: () => void }) {
  return (
    <p className="cs-readonly">
      You {verdict === 'approve' ? 'approved' : 'declined'} this; others must decide too.{' '}
      {isChanging ? null : (
        <button type="button" className="cs-button cs-small" onClick={onChange}>
          Change my vote
        </button>
      )}
    </p>
  )
}
