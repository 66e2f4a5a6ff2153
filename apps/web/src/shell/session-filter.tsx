import { SESSION_STATUSES, sessionStatusWord } from '../status/session-status.tsx'
import { SearchInput } from '../ui/index.ts'

type SessionFilterProps = {
  typed: string
  status: string
  onType: (text: string) => void
  onStatus: (status: string) => void
}

/** Filters sessions by text and status. */
export function SessionFilterForm({ typed, status, onType, onStatus }: SessionFilterProps) {
  return (
    <search className="session-filter">
      <SearchInput
        aria-label="Search sessions"
        placeholder="Search"
        typed={typed}
        onType={onType}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || typed === '') return
          // Without this, Escape would close the drawer.
          event.stopPropagation()
          onType('')
        }}
      />
      <select aria-label="Status of sessions" value={status} onChange={({ currentTarget }) => onStatus(currentTarget.value)}>
        <option value="">All</option>
        {SESSION_STATUSES.map((each) => (
          <option key={each} value={each}>
            {sessionStatusWord(each)}
          </option>
        ))}
      </select>
    </search>
  )
}
