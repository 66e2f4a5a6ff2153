import { SESSION_STATUSES } from '../status/session-status.tsx'
import { Options, SearchInput } from '../ui/index.ts'

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
        className="line-field"
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
      <select
        className="line-field"
        aria-label="Status of sessions"
        value={status}
        onChange={({ currentTarget }) => onStatus(currentTarget.value)}
      >
        <Options none="All" of={SESSION_STATUSES} />
      </select>
    </search>
  )
}
