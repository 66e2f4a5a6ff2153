import { useTypedParam } from './use-address.ts'

/** A day that is a parameter of the address: `2026-11-30`. While somebody types one, its year is first 2, then 20: their text and the focus stay. */
export function DayField({ name, label }: { name: string; label: string }) {
  const { typed, setTyped } = useTypedParam(name)
  return (
    <label>
      {label}
      <input type="date" value={typed} onChange={({ currentTarget }) => setTyped(currentTarget.value)} />
    </label>
  )
}
