import { useTypedParam } from './use-address.ts'

/**
 * A day that is a parameter of the address: `2026-11-30`. The field keeps its text and the focus while somebody types, although the address
 * changes with each digit of the year.
 */
export function DayField({ name, label }: { name: string; label: string }) {
  const { typed, setTyped } = useTypedParam(name)
  return (
    <label>
      {label}
      <input type="date" value={typed} onChange={({ currentTarget }) => setTyped(currentTarget.value)} />
    </label>
  )
}
