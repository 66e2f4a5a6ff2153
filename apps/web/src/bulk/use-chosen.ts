import type { Action } from '@countersign/client'
import { useMemo, useState } from 'react'
import { needsPerson } from '../waiting/views.ts'

const NONE: ReadonlySet<string> = new Set()

/** The rows that somebody chose to decide together, as they are now. Actions that no longer wait are no longer chosen. */
export function useChosen(rows: readonly Action[]) {
  const [ids, setIds] = useState(NONE)
  const chosen = useMemo(() => (ids.size === 0 ? [] : rows.filter((action) => ids.has(action.id) && needsPerson(action))), [rows, ids])
  return {
    ids,
    chosen,
    /** Adds one row to the chosen ones, or takes it out. */
    toggle: (id: string) =>
      setIds((before) => (before.has(id) ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id]))),
    /** Adds all of these to the chosen ones or, where all of them are chosen, takes them out. */
    toggleAll: (actions: readonly Action[]) => {
      const all = new Set(actions.map(({ id }) => id))
      setIds((before) => (all.isSubsetOf(before) ? before.difference(all) : before.union(all)))
    },
    choose: (actions: readonly Action[]) => setIds(new Set(actions.map(({ id }) => id))),
    clear: () => setIds(NONE),
  }
}
