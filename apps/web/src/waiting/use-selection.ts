import { useMemo, useRef, useState } from 'react'
import type { Line } from './groups.ts'

/**
 * Which line is selected: the one that somebody picked, else the first action, or the first group if it is folded. Where a picked action was folded
 * away, its group is selected. A picked action stays in its place when it leaves the list, until another line is picked; `kept` then.
 * @param lines All lines, also those of folded groups.
 */
export function useSelection(shown: readonly Line[], lines: readonly Line[], firstId: string | undefined) {
  const [pickedId, pick] = useState(firstId)
  const last = useRef<{ line: Line; at: number }>(undefined)
  const pickedAt = pickedId === undefined ? -1 : shown.findIndex(({ id }) => id === pickedId)
  const picked = shown[pickedAt]
  if (picked) last.current = { line: picked, at: pickedAt }
  const folded = picked || pickedId === undefined ? undefined : lines.find(({ id }) => id === pickedId)
  const heading = folded ? shown.findIndex(({ id }) => id === folded.groupId) : -1
  const isKept = !picked && !folded && last.current?.line.action !== undefined && last.current.line.id === pickedId
  const kept = isKept ? last.current : undefined
  const withKept = useMemo(() => (kept ? shown.toSpliced(kept.at, 0, inPlace(kept.line, shown[kept.at - 1])) : shown), [shown, kept])
  const at = picked ? pickedAt : heading >= 0 ? heading : kept ? Math.min(kept.at, shown.length) : firstOf(withKept)
  return {
    shown: withKept,
    /** Where the selected line is; -1 where there is no line. */
    at,
    kept: kept?.line.action,
    pick,
    unpick: () => pick(undefined),
  }
}

/** Its group may be gone: then it belongs to the one that it stands in. */
const inPlace = (line: Line, above: Line | undefined): Line => (line.action === undefined ? line : { ...line, groupId: above?.groupId })

/** The heading of a group that is not folded is no choice of anybody: its first action is shown. */
function firstOf([first, second]: readonly Line[]): number {
  if (!first) return -1
  return first.action === undefined && second !== undefined && second.groupId === first.id ? 1 : 0
}
