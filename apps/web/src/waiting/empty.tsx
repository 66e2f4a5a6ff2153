import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { Link } from 'react-router'
import { useWaiting } from '../live/use-waiting.ts'
import { useServices } from '../services.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { Button, Icon } from '../ui/index.ts'
import type { useInboxAddress } from './use-inbox-address.ts'
import type { View } from './views.ts'

const NextSteps = lazy(() => import('./next-steps.tsx'))

type EmptyProps = { address: ReturnType<typeof useInboxAddress> }

const WORDS: Record<View, string> = {
  mine: 'Nothing for you to decide',
  waiting: 'Nothing waiting',
  overdue: 'Nothing overdue',
  unknown: 'No unknown outcomes',
  snoozed: 'Nothing snoozed',
  decided: 'Nothing decided yet',
}

/** Shown instead of an empty list: why it is empty, and what to do next. */
export function Empty({ address: { view, text, setTyped, hrefOf } }: EmptyProps) {
  const { waiting: decisions, unknown } = useWaiting()
  const waiting = decisions + unknown
  if (text !== '') {
    return (
      <div className="empty" data-testid="waiting-empty">
        <h2>Nothing matches this search</h2>
        <p>It looks in the headline and the arguments of every action in this view.</p>
        <Button variant="outlined" onClick={() => setTyped('')}>
          Clear the search
        </Button>
      </div>
    )
  }
  return (
    <div className="empty" data-testid="waiting-empty">
      <Icon name="check" size={24} />
      <h2>{WORDS[view]}</h2>
      {view !== 'waiting' && waiting > 0 ? (
        <p>
          <Link to={hrefOf('waiting')}>See all {waiting.toLocaleString('en')} that wait</Link>
        </p>
      ) : (
        <p>An action that changes data appears here when it needs approval.</p>
      )}
      {waiting === 0 && <FirstVisit />}
    </div>
  )
}

/** Says what to do next as long as nothing was ever asked. Afterwards an empty inbox is a good sign, and needs no advice. */
function FirstVisit() {
  const { client } = useServices()
  const any = useQuery({
    queryKey: ['any-action'],
    queryFn: ({ signal }) => client.actions.list({ limit: 1 }, { signal }),
    select: ({ items }) => items.length > 0,
  })
  if (any.data !== false) return null
  return (
    <Boundary>
      <NextSteps />
    </Boundary>
  )
}
