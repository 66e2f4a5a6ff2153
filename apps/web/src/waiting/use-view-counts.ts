import type { Action } from '@countersign/client'
import { useRef } from 'react'
import { type Tally, tally } from '../steady/tally.ts'
import type { Viewer } from './is-mine.ts'
import { countViews, type WaitingView } from './views.ts'

/** Returns how many of the actions need a person, in each view. @param viewer Another object has all of them counted anew. */
export function useViewCounts(items: readonly Action[], viewer: Viewer): Record<WaitingView, number> {
  const last = useRef<{ viewer: Viewer; counted: Tally<Action, WaitingView> }>(undefined)
  const before = last.current?.viewer === viewer ? last.current.counted : undefined
  const counted = tally(items, (actions) => countViews(actions, viewer), before)
  last.current = { viewer, counted }
  return counted.counts
}
