import { useRef } from 'react'
import { PageBanner } from '../live/page-banner.tsx'
import { SavedTabs, SavedViewButtons } from '../saved-views/saved-views.tsx'
import { useServices } from '../services.tsx'
import { ExportButton } from '../shell/export-button.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress, withParam } from '../shell/use-address.ts'
import { Loaded, More, Options, useList } from '../ui/index.ts'
import { Filters } from './filters.tsx'
import { GROUPINGS, groupingOf, groupsOf } from './groups.ts'
import './history.css'
import { ORDERS, orderOf, orderParam } from './orders.ts'
import '../ui/pages.css'
import { queryOf } from './query.ts'
import { DecidedTable } from './table.tsx'

const EVERY_MS = 15_000
/** Parameters of the address that narrow nothing. */
const ARRANGEMENT = ['order', 'group']

/** `/history`: every settled action that this person may see, and how it came to its end. */
export default function HistoryPage() {
  const { client, me } = useServices()
  const { params } = useAddress()
  const address = params.toString()
  const results = useRef<HTMLElement>(null)
  const found = useList(
    // Groups are made of the same rows.
    ['history', withParam(address, 'group', '')],
    (cursor, signal) => client.actions.list({ ...queryOf(params, me, Date.now()), limit: 50, ...(cursor && { cursor }) }, { signal }),
    // Reading several pages again would ask for all of them.
    (pages) => (pages > 1 ? false : EVERY_MS),
  )
  // The export has all results, not only the loaded pages. Relative filters depend on the time at which it is made.
  const exported = () => queryOf(params, me, Date.now()) as Record<string, string>
  return (
    <Page title="Decided" subtitle="What was decided, by whom, and how it ended">
      <div className="stack wide" data-testid="history-page">
        <PageBanner />
        <nav className="saved-view-tabs" aria-label="Saved views">
          <SavedTabs page="decided" />
        </nav>
        <Filters onEnter={() => results.current?.focus()} />
        <SavedViewButtons page="decided" />
        <div className="row-head decided-head">
          <Arrangement />
          <ExportButton format="csv" path="/api/actions/export" query={exported} />
          <ExportButton format="jsonl" path="/api/actions/export" query={exported} />
          {found.data && (
            <span className="badge-text" role="status" data-testid="decided-count">
              {found.data.length.toLocaleString('en')}
              {found.hasNextPage && '+'} {found.data.length === 1 ? 'action' : 'actions'}
            </span>
          )}
        </div>
        <section ref={results} tabIndex={-1} aria-label="What was found">
          <Loaded of={found} height={480}>
            {(actions) =>
              actions.length === 0 ? (
                <Nothing isNarrowed={[...params.keys()].some((name) => !ARRANGEMENT.includes(name))} />
              ) : (
                <DecidedTable
                  groups={groupsOf(actions, groupingOf(params), address)}
                  order={ORDERS[orderOf(params)].caption}
                  more={found.hasNextPage}
                />
              )
            }
          </Loaded>
        </section>
        <More of={found} />
      </div>
    </Page>
  )
}

function Nothing({ isNarrowed }: { isNarrowed: boolean }) {
  return (
    <div className="empty" data-testid="history-empty">
      <h2>{isNarrowed ? 'Nothing matches these filters' : 'Nothing is decided yet'}</h2>
      <p>{isNarrowed ? 'Widen the time or remove a filter.' : 'Actions appear here once they are declined, expired, or have run.'}</p>
    </div>
  )
}

/** The order of the rows, and how they are grouped. Groups need no other rows, so choosing them asks the server for nothing. */
function Arrangement() {
  const { params, set } = useAddress()
  return (
    <>
      <Choice name="Order" value={orderOf(params)} ways={ORDERS} onChoose={(order) => set('order', orderParam(order))} />
      <Choice name="Group" value={groupingOf(params) ?? ''} none="No groups" ways={GROUPINGS} onChoose={(group) => set('group', group)} />
    </>
  )
}

type ChoiceProps = {
  name: string
  value: string
  /** The words for no choice, where that is one. */
  none?: string
  ways: Readonly<Record<string, { words: string }>>
  onChoose: (value: string) => void
}

function Choice({ name, value, none, ways, onChoose }: ChoiceProps) {
  return (
    <span className="decided-choice">
      <select aria-label={name} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <Options none={none} of={Object.entries(ways).map(([way, { words }]) => [way, words])} />
      </select>
    </span>
  )
}
