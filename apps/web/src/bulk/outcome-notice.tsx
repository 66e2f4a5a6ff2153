import { showInvisible } from '@countersign/react'
import { Button, Notice } from '../ui/index.ts'
import { countText, type Outcome } from './outcome.ts'

/** Longer lists are not read; the actions stay chosen. */
const MOST_REASONS = 6
const MOST_NAMES = 3

/** Shows which actions changed, which did not, and why. */
export default function OutcomeNotice({ outcome: { said, doing, went, not }, onClose }: { outcome: Outcome; onClose: () => void }) {
  const reasons = [...Map.groupBy(not, ({ why }) => why)]
  return (
    <Notice tone={not.length > 0 ? 'warning' : 'plain'} testId="bulk-outcome" action={<Button onClick={onClose}>Close</Button>}>
      {went.length > 0 && `${said}. `}
      {not.length > 0 && (
        <>
          {countText(not.length)} not {doing}:
          <ul className="bulk-refused">
            {reasons.slice(0, MOST_REASONS).map(([why, refused]) => (
              <li key={why}>
                {refused.slice(0, MOST_NAMES).map(({ action }, at) => (
                  <span key={action.id}>
                    {at > 0 && ', '}
                    <bdi>{showInvisible(action.description)}</bdi>
                  </span>
                ))}
                {refused.length > MOST_NAMES && ` and ${(refused.length - MOST_NAMES).toLocaleString('en')} more`}: {why}
              </li>
            ))}
          </ul>
          {reasons.length > MOST_REASONS && `and ${(reasons.length - MOST_REASONS).toLocaleString('en')} more`}
        </>
      )}
    </Notice>
  )
}
