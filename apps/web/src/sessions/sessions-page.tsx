import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress, useTypedParam } from '../shell/use-address.ts'
import { SESSION_STATUSES } from '../status/session-status.tsx'
import { Loaded, More, Options, SearchInput, Unseen, useList } from '../ui/index.ts'
import { SessionRows } from './session-rows.tsx'
import '../ui/pages.css'
import './sessions.css'

const PAGE_ROWS = 100
const EVERY_MS = 30_000

/** `/sessions`: every session that this person may see, newest first, with its status, what waits in it, and its tokens. */
export default function SessionsPage() {
  const { client } = useServices()
  const { params, set } = useAddress()
  const search = useTypedParam('q')
  const [q, status] = [search.value, params.get('status') ?? '']
  const found = useList(
    ['sessions', 'page', { q, status }],
    (cursor, signal) =>
      client.sessions.list({ limit: PAGE_ROWS, ...(q && { q }), ...(status && { status }), ...(cursor && { cursor }) }, { signal }),
    // Reading several pages again would ask for all of them.
    (pages) => (pages > 1 ? false : EVERY_MS),
  )
  const { data, hasNextPage } = found
  return (
    <Page title="Sessions" layout="fill" subtitle="The conversations and runs of your agents">
      <div className="rows-page sessions-page" data-testid="sessions-page">
        <div className="stack">
          <PageBanner />
          <form className="filters sessions-filter" aria-label="Sessions" onSubmit={(event) => event.preventDefault()}>
            <label>
              Search
              <SearchInput placeholder="Titles, and what was said" typed={search.typed} onType={search.setTyped} />
            </label>
            <label>
              Status
              <select value={status} onChange={({ currentTarget }) => set('status', currentTarget.value)}>
                <Options none="Any" of={SESSION_STATUSES} />
              </select>
            </label>
            <Unseen text={search.typed} />
            <span className="muted" role="status" data-testid="sessions-count">
              {data && `${data.length.toLocaleString('en')}${hasNextPage ? '+' : ''} ${data.length === 1 ? 'session' : 'sessions'}`}
            </span>
          </form>
        </div>
        <Loaded of={found} height={480}>
          {(sessions) =>
            sessions.length === 0 ? (
              <p className="muted">{emptyText(q !== '' || status !== '', hasNextPage)}</p>
            ) : (
              <SessionRows
                // Another filter is another list: it begins at its top.
                key={`${status} ${q}`}
                sessions={sessions}
                onEnd={() => {
                  if (hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage()
                }}
              />
            )
          }
        </Loaded>
        <More of={found} />
      </div>
    </Page>
  )
}

function emptyText(isNarrowed: boolean, hasOlder: boolean): string {
  if (hasOlder) return 'No session matches among the newest ones. There are older ones to search.'
  return isNarrowed ? 'No session matches. Try other words or another status.' : 'No sessions yet.'
}
