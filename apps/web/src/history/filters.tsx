import { showInvisible } from '@countersign/react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { DayField } from '../shell/day-field.tsx'
import { useAddress, useTypedParam, withParam } from '../shell/use-address.ts'
import { Button, Options, SearchInput, Unseen, useDisclosure, useMediaQuery } from '../ui/index.ts'
import { readSearch } from '../waiting/search.ts'
import { commonDays, type Days } from './days.ts'
import { STATE_CHOICES, VERDICT_CHOICES } from './query.ts'

/** Filters that other pages link with; here they can only be taken away. */
const LINKED = [
  { name: 'rule', words: 'Rule' },
  { name: 'destination', words: 'Destination' },
] as const

/** Behind *More filters* on a phone, where they would fill the screen before the first row. */
const MORE = ['state', 'verdict', 'decider', 'since', 'until']

/** Search, state, who decided and when: all of it is in the address. Enter leads to what was found. */
export function Filters({ onEnter }: { onEnter: () => void }) {
  const isNarrow = useMediaQuery('(max-width: 600px)')
  const { params, set } = useAddress()
  const search = useTypedParam('q')
  const decider = useTypedParam('decider')
  const { problems } = readSearch(search.value)
  const more = (
    <>
      <label>
        Result
        <select value={params.get('state') ?? ''} onChange={({ currentTarget }) => set('state', currentTarget.value)}>
          <Options none="Any" of={STATE_CHOICES} />
        </select>
      </label>
      <label>
        Policy
        <select value={params.get('verdict') ?? ''} onChange={({ currentTarget }) => set('verdict', currentTarget.value)}>
          <Options none="Any" of={VERDICT_CHOICES} />
        </select>
      </label>
      <label>
        Decided by
        <input
          value={decider.typed}
          placeholder="A person's name"
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => decider.setTyped(currentTarget.value)}
        />
      </label>
      <DayField name="since" label="Decided from" />
      <DayField name="until" label="Decided until" />
    </>
  )
  return (
    <form className="filters decided-filters" aria-label="Settled actions" onSubmit={(event) => event.preventDefault()}>
      <label className="filters-search">
        Search
        <SearchInput
          placeholder="Search, or tool: agent: risk: by: older:"
          aria-describedby="decided-problems"
          typed={search.typed}
          onType={search.setTyped}
          onKeyDown={({ key }) => key === 'Enter' && onEnter()}
        />
      </label>
      <CommonDays />
      {isNarrow ? <MoreFilters isUsed={MORE.some((name) => params.has(name))}>{more}</MoreFilters> : more}
      <Unseen text={search.typed + decider.typed} />
      <p id="decided-problems" className="filters-problems" role="status">
        {showInvisible(problems.join(' '))}
      </p>
      {LINKED.map(({ name, words }) => {
        const value = params.get(name)
        return (
          value && (
            <Button
              key={name}
              variant="outlined"
              onClick={() => set(name, '')}
              aria-label={`Remove the filter ${words}: ${showInvisible(value)}`}
            >
              {words}: {showInvisible(value)} <span aria-hidden="true">×</span>
            </Button>
          )
        )
      })}
    </form>
  )
}

/** Fills in both days at once; pressed again, takes them out. */
function CommonDays() {
  const { params } = useAddress()
  const navigate = useNavigate()
  const isSet = ({ since, until }: Days) => params.get('since') === since && params.get('until') === until
  function toggle(days: Days) {
    const { since, until } = isSet(days) ? { since: '', until: '' } : days
    const { pathname, search } = window.location
    const next = withParam(withParam(search, 'since', since), 'until', until)
    navigate({ pathname, search: next }, { replace: true, preventScrollReset: true })
  }
  return (
    <fieldset aria-label="Decided" className="decided-days">
      <span aria-hidden="true">Decided</span>
      {commonDays(new Date()).map((days) => (
        <Button key={days.name} variant="outlined" aria-pressed={isSet(days)} onClick={() => toggle(days)}>
          {days.name}
        </Button>
      ))}
    </fieldset>
  )
}

function MoreFilters({ isUsed, children }: { isUsed: boolean; children: ReactNode }) {
  return (
    <details className="filters-more" {...useDisclosure(isUsed)}>
      <summary>More filters</summary>
      <div className="filters decided-filters">{children}</div>
    </details>
  )
}
