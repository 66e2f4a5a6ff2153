import type { Action } from '@countersign/client'
import { isMine, type Viewer } from './is-mine.ts'

export type View = 'mine' | 'waiting' | 'overdue' | 'unknown' | 'snoozed' | 'decided'
/** The views of actions that need a person. Decided actions are read from the server, page by page. */
export type WaitingView = Exclude<View, 'decided'>

/** Every view in the order of its tabs. */
export const VIEWS: readonly { view: View; name: string }[] = [
  { view: 'mine', name: 'Mine to decide' },
  { view: 'waiting', name: 'All waiting' },
  { view: 'overdue', name: 'Overdue' },
  { view: 'unknown', name: 'Unknown outcome' },
  { view: 'snoozed', name: 'Snoozed' },
  { view: 'decided', name: 'Decided' },
]

export const isView = (text: string | null): text is View => VIEWS.some(({ view }) => view === text)

export const needsPerson = ({ state }: Action): boolean => state === 'proposed' || state === 'outcome_unknown'

/**
 * True when the view shows `action`. A decided action stays where it was for some seconds, so that nothing disappears under a pointer.
 */
export function isIn(view: WaitingView, action: Action, viewer: Viewer): boolean {
  switch (view) {
    case 'mine':
      return isMine(action, viewer)
    case 'waiting':
      return true
    case 'overdue':
      return action.overdue
    case 'unknown':
      return action.state === 'outcome_unknown' || action.resolution !== null
    case 'snoozed':
      return viewer.snoozes.has(action.id)
  }
}

/** How many of the actions need a person, in each view. */
export function countViews(actions: readonly Action[], viewer: Viewer): Record<WaitingView, number> {
  const counts = { mine: 0, waiting: 0, overdue: 0, unknown: 0, snoozed: 0 }
  for (const action of actions) {
    if (!needsPerson(action)) continue
    for (const view of ['mine', 'waiting', 'overdue', 'unknown', 'snoozed'] as const) if (isIn(view, action, viewer)) counts[view]++
  }
  return counts
}
