import type { Action } from '@countersign/client'
import { useMemo, useRef } from 'react'
import { useSteadyList } from '../steady/use-steady-list.ts'
import { type Grouping, type Groups, groupsOf, keepGroup, type Line, linesOf, unfolded } from './groups.ts'
import type { Folds } from './use-folds.ts'

type LinesOptions = {
  grouping: Grouping | undefined
  folds: Folds
  /** True while somebody has scrolled down. */
  isScrolled: boolean
}

const idOf = (line: Line) => line.id
const countActions = (lines: readonly Line[]) => lines.reduce((sum, { action }) => sum + Number(action !== undefined), 0)

/** The lines of the inbox, of which none moves under a pointer, the focus or a finger, but by folding and unfolding. */
export function useLines(rows: readonly Action[], { grouping, folds: { isFolded }, isScrolled }: LinesOptions) {
  const latest = useMemo(() => linesOf(rows, grouping), [rows, grouping])
  const { shown: lines, fresh, gone, apply, hold } = useSteadyList(latest, idOf, isScrolled, keepGroup)
  const before = useRef<Groups>(undefined)
  const groups = useMemo(() => groupsOf(lines, grouping, before.current), [lines, grouping])
  before.current = groups
  const shown = useMemo(() => unfolded(lines, isFolded), [lines, isFolded])
  return {
    /** All lines, also those of folded groups. */
    lines,
    groups,
    /** The lines that are not folded. */
    shown,
    /** How many actions wait to be let in. */
    fresh: countActions(fresh),
    /** How many actions have left the list. */
    gone: countActions(gone),
    /** Lets others in. */
    apply: (actions: readonly Action[]) => apply(linesOf(actions, grouping)),
    hold,
  }
}
