import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { SavedTabs, SavedViewButtons } from '../saved-views/saved-views.tsx'
import { SearchInput, Unseen } from '../ui/index.ts'
import { isOrder, ORDERS } from './order.ts'
import { focusRow } from './row-list.tsx'
import { readSearch } from './search.ts'
import type { useInboxAddress } from './use-inbox-address.ts'
import { VIEWS, type View, type WaitingView } from './views.ts'

type ToolbarProps = {
  address: ReturnType<typeof useInboxAddress>
  counts: Record<WaitingView, number> | undefined
  /** True when there are more than are counted. */
  more: boolean
}

/** The views with how many each holds, the search and the order. */
export function Toolbar({ address, counts, more }: ToolbarProps) {
  const { view, order, text, typed, setTyped, setOrder, hrefOf } = address
  const { problems } = readSearch(text)
  // Most people snooze nothing most of the time.
  const isShown = (each: View) => each !== 'snoozed' || view === 'snoozed' || (counts?.snoozed ?? 0) > 0
  return (
    <section className="inbox-bar" aria-label="Views and search">
      <nav className="inbox-views" aria-label="Views">
        {VIEWS.filter((each) => isShown(each.view)).map((each) => (
          <Link key={each.view} to={hrefOf(each.view)} aria-current={each.view === view ? 'page' : undefined}>
            {each.name}{' '}
            {counts && each.view !== 'decided' && (
              <span className="inbox-count" data-testid={`count-${each.view}`}>
                {counts[each.view].toLocaleString('en')}
                {more && '+'}
              </span>
            )}
          </Link>
        ))}
        <SavedTabs page="inbox" />
      </nav>
      <div className="inbox-filter">
        <search className="inbox-search">
          <SearchInput
            aria-label="Search actions"
            aria-describedby="inbox-search-problems"
            placeholder="Search, or tool: agent: risk: by: older:"
            typed={typed}
            onType={setTyped}
            onKeyDown={({ key }) => {
              if (key === 'Escape' && typed !== '') setTyped('')
              else if (key === 'Escape' || key === 'Enter') focusRow()
            }}
          />
          <span aria-hidden="true">
            <kbd>/</kbd>
          </span>
        </search>
        {view !== 'decided' && (
          <select
            aria-label="Order"
            value={order}
            onChange={({ currentTarget: { value } }) => {
              if (isOrder(value)) setOrder(value)
            }}
          >
            {Object.entries(ORDERS).map(([name, { words }]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        )}
      </div>
      <SavedViewButtons page="inbox" />
      <Unseen text={typed} />
      <p id="inbox-search-problems" className="inbox-problems" role="status">
        {showInvisible(problems.join(' '))}
      </p>
    </section>
  )
}
