import type { Action } from '@countersign/client'
import { useRef, useState } from 'react'

/**
 * Which row is selected: the one that somebody picked, else the first. A picked row stays in its place when it leaves the list, until
 * another is picked; `isKept` then.
 */
export function useSelection(rows: readonly Action[], firstId: string | undefined) {
  const [pickedId, pick] = useState(firstId)
  const last = useRef<{ action: Action; at: number }>(undefined)
  const at = rows.findIndex(({ id }) => id === pickedId)
  const picked = rows[at]
  if (picked) last.current = { action: picked, at }
  const kept = picked === undefined && last.current?.action.id === pickedId ? last.current : undefined
  const shown = kept ? rows.toSpliced(kept.at, 0, kept.action) : rows
  const selected = picked ?? kept?.action ?? shown[0]
  return { shown, selected, isKept: kept !== undefined, pick, unpick: () => pick(undefined) }
}
