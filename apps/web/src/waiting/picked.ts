import type { Action } from '@countersign/client'
import { useRef } from 'react'
import { changedSpan } from '../steady/changed-span.ts'
import { firstWhere } from '../steady/first-where.ts'

/** Which actions are listed, and in which order. */
export type Picking = { isIn: (action: Action) => boolean; compare: (a: Action, b: Action) => number }

export type Picked = { items: readonly Action[]; picking: Picking; rows: readonly Action[] }

/** Up to this many new actions, such as two pages of a list, are inserted one by one; more are sorted together with the others. */
const FEW = 400

/** The actions that are picked, in their order. Where only some of thousands changed since `before`, the others keep their place. */
export function pick(before: Picked | undefined, items: readonly Action[], picking: Picking): Picked {
  if (before?.items === items && before.picking === picking) return before
  if (before?.picking !== picking) return { items, picking, rows: items.filter(picking.isIn).sort(picking.compare) }
  const changed = changedSpan(before.items, items)
  const gone = new Set(changed.before)
  const kept = gone.size === 0 ? before.rows : before.rows.filter((action) => !gone.has(action))
  const come = changed.now.filter(picking.isIn).sort(picking.compare)
  return { items, picking, rows: withAll(kept, come, picking.compare) }
}

/** Puts actions behind those of the same rank. The same list where there are none. */
function withAll(kept: readonly Action[], come: readonly Action[], compare: Picking['compare']): readonly Action[] {
  if (come.length === 0) return kept
  if (come.length > FEW) return [...kept, ...come].sort(compare)
  const rows = [...kept]
  for (const action of come)
    rows.splice(
      firstWhere(rows, (row) => compare(row, action) > 0),
      0,
      action,
    )
  return rows
}

export function usePicked(items: readonly Action[], picking: Picking): readonly Action[] {
  const last = useRef<Picked>(undefined)
  last.current = pick(last.current, items, picking)
  return last.current.rows
}
