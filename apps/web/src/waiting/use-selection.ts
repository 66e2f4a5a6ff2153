import { useRef, useState } from 'react'
import type { Line, Shown } from './groups.ts'

/**
 * Which line is selected: the one that somebody picked, else the first action, or the first group if it is folded. Where a picked action was folded
 * away, its group is selected. A picked action stays in its place when it leaves the list, until another line is picked; `kept` then.
 * @param lines All lines, also those of folded groups.
 */
export function useSelection(shown: readonly Shown[], lines: readonly Line[], firstId: string | undefined) {
  const [pickedId, pick] = useState(firstId)
  const last = useRef<{ line: Shown; at: number }>(undefined)
  const at = shown.findIndex(({ id }) => id === pickedId)
  const picked = shown[at]
  if (picked) last.current = { line: picked, at }
  const folded = picked || pickedId === undefined ? undefined : lines.find(({ id }) => id === pickedId)
  const heading = folded && shown.find(({ id }) => id === folded.groupId)
  const isKept = !picked && !folded && last.current?.line.action !== undefined && last.current.line.id === pickedId
  const kept = isKept ? last.current : undefined
  const withKept = kept ? shown.toSpliced(kept.at, 0, kept.line) : shown
  return {
    shown: withKept,
    selected: picked ?? heading ?? kept?.line ?? firstOf(withKept),
    kept: kept?.line.action,
    pick,
    unpick: () => pick(undefined),
  }
}

/** The heading of a group that is not folded is no choice of anybody: its first action is shown. */
const firstOf = ([first, second]: readonly Shown[]): Shown | undefined =>
  first?.action === undefined && second !== undefined && second.groupId === first?.id ? second : first
