import type { Client } from '@countersign/client'
import { lazy, useEffect, useMemo, useState } from 'react'
import { errorText } from '../errors.ts'
import { ConnectionBanner } from '../live/connection-banner.tsx'
import { useConnection } from '../live/use-connection.ts'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useWaiting } from '../live/use-waiting.ts'
import { useServices } from '../services.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { Page } from '../shell/page.tsx'
import { useSnoozes } from '../snooze/use-snoozes.ts'
import { Button, Notice, Skeleton } from '../ui/index.ts'
import { Empty } from './empty.tsx'
import { Inbox } from './inbox.tsx'
import { forgetPlace, placeLeft } from './place.ts'
import { prepareSearch } from './search.ts'
import { Toolbar } from './toolbar.tsx'
import { useFolds } from './use-folds.ts'
import { useInboxAddress } from './use-inbox-address.ts'
import { type Rows, useRows } from './use-rows.ts'
import { useViewCounts } from './use-view-counts.ts'
import type { WaitingView } from './views.ts'
import './waiting.css'

const FullNotice = lazy(() => import('./full-notice.tsx'))

/** `/waiting`: the inbox. It lists the actions of all sessions that need a person, and the decided ones. */
export default function WaitingPage() {
  const { client, me } = useServices()
  useEffect(() => void stayNotified(client, me.id), [client, me.id])
  const { items, unknown, more, loaded, connection: stream } = useWaiting()
  const standsFor = useStandsFor()
  const snoozes = useSnoozes()
  const connection = useConnection(stream)
  const address = useInboxAddress()
  const { view, order, text } = address
  // Decided ones are read page by page: a group would be of what was read so far.
  const grouping = view === 'decided' ? undefined : address.grouping
  const folds = useFolds()
  const found = useRows(view, text, order)
  const viewer = useMemo(() => ({ me, standsFor, snoozes }), [me, standsFor, snoozes])
  const counted = useViewCounts(items, viewer)
  const counts = loaded ? counted : undefined
  const summary = counts && summaryText(counts, { more, unknown })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is being typed draws the list no sooner than it is in the address
  const empty = useMemo(() => <Empty address={address} />, [view, order, text, grouping])
  const isTyping = address.typed !== ''
  useEffect(() => {
    const leaving = new AbortController()
    if (isTyping) void prepareSearch(items, leaving.signal)
    return () => leaving.abort()
  }, [isTyping, items])
  // After the page of an action, the focus returns to its row.
  const [firstId] = useState(placeLeft)
  useEffect(forgetPlace, [])

  return (
    <Page
      title="Inbox"
      layout="fill"
      focusHeading={firstId === undefined}
      subtitle={
        summary && (
          // The tabs say the same: on a narrow screen one line is enough.
          <span className="clip" title={summary} data-testid="waiting-summary">
            {summary}
          </span>
        )
      }
    >
      <div className="inbox">
        <Toolbar address={address} folds={folds} counts={counts} more={more} />
        <div className="inbox-notices">
          <ConnectionBanner connection={connection} />
          <Boundary>
            <FullNotice />
          </Boundary>
          <Failure of={found} />
        </div>
        {!found.isLoaded && found.failure === null && <LoadingRows />}
        {found.isLoaded && (
          <Inbox
            key={`${view} ${order} ${grouping} ${text}`}
            of={found}
            view={view}
            connection={connection}
            grouping={grouping}
            folds={folds}
            firstId={firstId}
            empty={empty}
          />
        )}
      </div>
    </Page>
  )
}

/** Loaded after the page: nobody waits for it. Where it cannot be loaded, the next visit tries again. */
async function stayNotified(client: Client, personId: string): Promise<void> {
  const push = await import('../push/subscribe.ts').catch(() => undefined)
  await push?.keepSubscribed(client, personId)
}

/** "40 waiting, 26 for you, 28 overdue". */
function summaryText(counts: Record<WaitingView, number>, { more, unknown }: { more: boolean; unknown: number }): string {
  const others = [
    counts.mine < counts.waiting && `${counts.mine} for you`,
    counts.overdue > 0 && `${counts.overdue} overdue`,
    unknown > 0 && `${unknown} of unknown outcome`,
  ]
  return [`${counts.waiting}${more ? '+' : ''} waiting`, ...others].filter(Boolean).join(', ')
}

function Failure({ of: { failure, isLoaded, retry } }: { of: Rows }) {
  if (failure === null) return null
  return (
    <div role="alert">
      <Notice tone="error" action={<Button onClick={retry}>Try again</Button>}>
        {isLoaded && 'This list is no longer kept current. '}
        {errorText(failure)}
      </Notice>
    </div>
  )
}

/** Rows of the final height, in the frame of the list. */
function LoadingRows() {
  return (
    <div className="inbox-frame" aria-busy="true">
      <div className="inbox-list">
        {Array.from({ length: 8 }, (_, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have nothing else
          <div key={at} className="inbox-loading">
            <Skeleton height={14} width={14} />
            <Skeleton height={14} width={`${70 - (at % 3) * 14}%`} />
            <Skeleton height={12} width="44%" />
          </div>
        ))}
      </div>
    </div>
  )
}
