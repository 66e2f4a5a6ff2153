import type { Action } from '@countersign/client'
import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from 'react'
import { useDensity } from '../preferences/density.ts'
import { useServices } from '../services.tsx'
import { useSnoozes } from '../snooze/use-snoozes.ts'
import { useNow } from '../time/use-now.ts'
import { Row } from './row.tsx'

/** The heights of a row in px, as in waiting.css. A finger needs 44. */
const ROW_PX = { comfortable: 56, compact: 44 } as const
/** Drawn above and below what is in sight. */
const OVERSCAN_ROWS = 5
/** Where the list is being scrolled away from: each row drawn costs its share of the frame. At rest both sides have the same. */
const ROWS_BEHIND = 1
const PAGE_MOVES = 10
/** Older ones are read when so few rows are left below. */
const LAST_ROWS = 20

type RowListProps = {
  rows: readonly Action[]
  selectedId: string | undefined
  /** The rows that were chosen to be decided together. */
  chosenIds: ReadonlySet<string>
  /** The box that scrolls; null until it is there. */
  box: HTMLDivElement | null
  /** Set once the selected row is to take the focus. */
  wantsFocus: RefObject<boolean>
  onMove: (by: number) => void
  onPick: (id: string) => void
  onChoose: (id: string) => void
  onOpen: () => void
  /** Reads older rows; false while it cannot. */
  onEnd: () => boolean
}

/** The rows, of which only those in sight are drawn, and the selected one: it may have the focus. */
export function RowList({ rows, selectedId, chosenIds, box, wantsFocus, onMove, onPick, onChoose, onOpen, onEnd }: RowListProps) {
  const { me } = useServices()
  const nowMs = useNow()
  const snoozes = useSnoozes()
  const [density] = useDensity()
  const rowPx = ROW_PX[density]
  const selectedAt = rows.findIndex(({ id }) => id === selectedId)
  const virtual: Virtualizer<HTMLDivElement, Element> = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    getItemKey: (at) => rows[at]?.id ?? at,
    rangeExtractor: (range) => withRow(rowsAround(range, virtual.scrollDirection), selectedAt),
  })

  // The list keeps the heights that it was given first.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the event
  useLayoutEffect(() => virtual.measure(), [rowPx])

  useLayoutEffect(() => {
    if (!wantsFocus.current || selectedAt < 0) return
    virtual.scrollToIndex(selectedAt, { align: 'auto' })
    // Before the box was measured no row is drawn: then the next time.
    wantsFocus.current = !focusRow()
  })

  const items = virtual.getVirtualItems()
  const isAtEnd = (items.at(-1)?.index ?? 0) >= rows.length - LAST_ROWS
  const askedAt = useRef(0)
  useLayoutEffect(() => {
    // Once for each number of rows: where older ones bring none of this view, somebody has to ask for more.
    if (!isAtEnd || rows.length <= askedAt.current) return
    if (onEnd()) askedAt.current = rows.length
  }, [isAtEnd, rows.length, onEnd])

  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_MOVES, PageUp: -PAGE_MOVES, Home: -rows.length, End: rows.length }[event.key]
    if (by !== undefined) onMove(by)
    else if (event.key === 'Enter') onOpen()
    else return
    event.preventDefault()
  }

  return (
    <div
      role="listbox"
      tabIndex={-1}
      aria-label="Actions"
      data-choosing={chosenIds.size > 0}
      className="inbox-rows"
      data-testid="waiting-list"
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const action = rows[index]
          return (
            action && (
              <Row
                key={action.id}
                action={action}
                at={index}
                of={rows.length}
                isSelected={index === selectedAt}
                isChosen={chosenIds.has(action.id)}
                top={start}
                meId={me.id}
                nowMs={nowMs}
                until={snoozes.get(action.id)}
                onPick={onPick}
                onChoose={onChoose}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

type Direction = Virtualizer<HTMLDivElement, Element>['scrollDirection']

/** The rows in sight and around it. */
function rowsAround({ startIndex, endIndex, overscan, ...range }: Range, direction: Direction): number[] {
  const above = direction === 'forward' ? ROWS_BEHIND : overscan
  const below = direction === 'backward' ? ROWS_BEHIND : overscan
  return defaultRangeExtractor({ ...range, startIndex: startIndex - above, endIndex: endIndex + below, overscan: 0 })
}

const withRow = (shown: number[], at: number): number[] => (at < 0 || shown.includes(at) ? shown : [...shown, at].sort((a, b) => a - b))

/** Puts the focus on the selected row. False when it is not drawn. */
export function focusRow(): boolean {
  const row = document.querySelector<HTMLElement>('.inbox-row[aria-selected=true]')
  row?.focus({ preventScroll: true })
  return row !== null
}
