import { isComposing, showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { SavedTabs, SavedViewButtons } from '../saved-views/saved-views.tsx'
import { Button, Options, SearchInput, Unseen } from '../ui/index.ts'
import { GROUPINGS, isGrouping } from './groups.ts'
import { isOrder, ORDERS } from './order.ts'
import { focusRow } from './row-list.tsx'
import { readSearch } from './search.ts'
import type { Folds } from './use-folds.ts'
import type { useInboxAddress } from './use-inbox-address.ts'
import { VIEWS, type View, type WaitingView } from './views.ts'

type ToolbarProps = {
  address: ReturnType<typeof useInboxAddress>
  folds: Folds
  counts: Record<WaitingView, number> | undefined
  /** True when there are more than are counted. */
  more: boolean
}

/** The views with how many each holds, the search, the order and the groups. */
export function Toolbar({ address, folds, counts, more }: ToolbarProps) {
  const { view, text, typed, setTyped, hrefOf } = address
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
            className="line-field"
            aria-label="Search actions"
            aria-describedby="inbox-search-problems"
            placeholder="Search, or tool: agent: risk: by: older:"
            typed={typed}
            onType={setTyped}
            onKeyDown={(event) => {
              const { key } = event
              if (isComposing(event)) return
              if (key === 'Escape' && typed !== '') setTyped('')
              else if (key === 'Escape' || key === 'Enter') focusRow()
            }}
          />
          <span aria-hidden="true">
            <kbd>/</kbd>
          </span>
        </search>
      </div>
      <div className="inbox-arrangement">
        {view !== 'decided' && <Arrangement address={address} folds={folds} />}
        <SavedViewButtons page="inbox" />
      </div>
      <Unseen text={typed} />
      <p id="inbox-search-problems" className="inbox-problems" role="status">
        {showInvisible(problems.join(' '))}
      </p>
    </section>
  )
}

/** The order of the rows, and how they are grouped. */
function Arrangement({
  address: { order, setOrder, grouping, setGrouping },
  folds: { areAllFolded, foldAll },
}: Pick<ToolbarProps, 'address' | 'folds'>) {
  return (
    <>
      <select
        className="line-field"
        aria-label="Order"
        value={order}
        onChange={({ currentTarget: { value } }) => {
          if (isOrder(value)) setOrder(value)
        }}
      >
        <Options of={Object.entries(ORDERS).map(([name, { words }]) => [name, words])} />
      </select>
      <select
        className="line-field"
        aria-label="Group"
        value={grouping ?? ''}
        onChange={({ currentTarget: { value } }) => setGrouping(isGrouping(value) ? value : '')}
      >
        <Options none="No groups" of={Object.entries(GROUPINGS).map(([name, { words }]) => [name, words])} />
      </select>
      {grouping && (
        <Button variant="text" onClick={() => foldAll(!areAllFolded)}>
          {areAllFolded ? 'Unfold all' : 'Fold all'}
        </Button>
      )}
    </>
  )
}
