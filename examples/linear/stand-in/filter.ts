// Linear's filters, as far as the tools use them.

type Filter = Readonly<Record<string, unknown>>

const isFilter = (value: unknown): value is Filter => typeof value === 'object' && value !== null && !Array.isArray(value)
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const lower = (value: unknown) => String(value).toLowerCase()

const COMPARE: Readonly<Record<string, (value: unknown, wanted: unknown) => boolean>> = {
  eq: (value, wanted) => value === wanted,
  eqIgnoreCase: (value, wanted) => typeof value === 'string' && lower(value) === lower(wanted),
  in: (value, wanted) => asList(wanted).includes(value),
  nin: (value, wanted) => !asList(wanted).includes(value),
  null: (value, wanted) => (value === null || value === undefined) === wanted,
}

/** True when `thing` is one that the filter means. */
export function fits(thing: unknown, filter: unknown): boolean {
  if (!isFilter(filter)) return true
  return Object.entries(filter).every(([key, wanted]) => {
    if (wanted === undefined || wanted === null) return true
    if (key === 'and') return asList(wanted).every((part) => fits(thing, part))
    if (key === 'or') return asList(wanted).some((part) => fits(thing, part))
    if (key === 'some') return asList(thing).some((one) => fits(one, wanted))
    const compare = COMPARE[key]
    if (compare) return compare(thing, wanted)
    const name = key === 'accessibleTeams' ? 'teams' : key
    if (!isFilter(thing)) return false
    if (!(name in thing)) throw new Error(`the stand-in does not filter by ${key}`)
    return fits(thing[name], wanted)
  })
}
