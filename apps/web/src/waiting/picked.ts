import type { Action } from '@countersign/client'
import { useRef } from 'react'
import { changedSpan } from '../steady/changed-span.ts'

/** Which actions are listed, and in which order. */
export type Picking = { isIn: (action: Action) => boolean; compare: (a: Action, b: Action) => number }

type Picked = { items: readonly Action[]; picking: Picking; rows: readonly Action[] }

/**
 * The actions that are picked, in their order. Where only some of thousands changed since `before`, the others keep their place: sorting merges two
 * ordered lists in one pass.
 */
export function pick(before: Picked | undefined, items: readonly Action[], picking: Picking): Picked {
  if (before?.items === items && before.picking === picking) return before
  if (before?.picking !== picking) return { items, picking, rows: items.filter(picking.isIn).sort(picking.compare) }
  const changed = changedSpan(before.items, items)
  const gone = new Set(changed.before)
  const kept = gone.size === 0 ? before.rows : before.rows.filter((action) => !gone.has(action))
  const come = changed.now.filter(picking.isIn).sort(picking.compare)
  return { items, picking, rows: [...kept, ...come].sort(picking.compare) }
}

export function usePicked(items: readonly Action[], picking: Picking): readonly Action[] {
  const last = useRef<Picked>(undefined)
  last.current = pick(last.current, items, picking)
  return last.current.rows
}
