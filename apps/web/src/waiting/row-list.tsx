import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type RefObject, useCallback, useLayoutEffect, useMemo, useRef } from 'react'
import { useDensity } from '../preferences/density.ts'
import { useServices } from '../services.tsx'
import { useSnoozes } from '../snooze/use-snoozes.ts'
import { useNow } from '../time/use-now.ts'
import { GroupHeading } from './group-heading.tsx'
import { type Group, type Groups, type Line, placeOf, shownLines } from './groups.ts'
import { Row } from './row.tsx'
import type { Folds } from './use-folds.ts'

/** The heights of a row in px, as in waiting.css. A finger needs 44. */
const ROW_PX = { comfortable: 56, compact: 44 } as const
/** The height of the heading of a group in px, as in waiting.css. */
const HEADING_PX = 44
/** Drawn above and below what is in sight. */
const OVERSCAN_ROWS = 5
/** Where the list is being scrolled away from: each row drawn costs its share of the frame. At rest both sides have the same. */
const ROWS_BEHIND = 1
const PAGE_MOVES = 10
/** Older ones are read when so few rows are left below. */
const LAST_ROWS = 20

type RowListProps = {
  lines: readonly Line[]
  groups: Groups
  isGrouped: boolean
  folds: Folds
  /** Where the selected line is. */
  selectedAt: number
  /** The rows that were chosen to be decided together. */
  chosenIds: ReadonlySet<string>
  /** The box that scrolls; null until it is there. */
  box: HTMLDivElement | null
  /** Set once the selected line is to take the focus. */
  wantsFocus: RefObject<boolean>
  onMove: (by: number) => void
  onPick: (id: string) => void
  onChoose: (id: string) => void
  onChooseGroup: (group: Group) => void
  onFold: (groupId: string) => void
  onOpen: () => void
  /** Reads older rows; false while it cannot. */
  onEnd: () => boolean
}

/** The lines, of which only those in sight are drawn, and the selected one: it may have the focus. */
export function RowList(props: RowListProps) {
  const { lines, groups, isGrouped, folds, selectedAt, chosenIds, box, wantsFocus, onMove, onFold, onOpen, onEnd } = props
  const { onPick, onChoose, onChooseGroup, onFold: onFoldHeading } = useSameHandlers(props)
  const { me } = useServices()
  const nowMs = useNow()
  const snoozes = useSnoozes()
  const [density] = useDensity()
  const rowPx = ROW_PX[density]
  const selected = lines[selectedAt]
  const shown = useMemo(() => shownLines(lines), [lines])
  const areChosen = useMemo(() => chosenAmong(chosenIds), [chosenIds])
  // The same functions until a line changes: others would make the virtual list add up all heights again with every frame.
  const keyOf = useCallback((at: number) => lines[at]?.id ?? at, [lines])
  const sizeOf = useCallback((at: number) => (lines[at]?.action === undefined ? HEADING_PX : rowPx), [lines, rowPx])
  const virtual: Virtualizer<HTMLDivElement, Element> = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box,
    estimateSize: sizeOf,
    overscan: OVERSCAN_ROWS,
    // No row takes the focus behind the heading that stays in sight.
    scrollPaddingStart: isGrouped ? HEADING_PX : 0,
    getItemKey: keyOf,
    rangeExtractor: (range) =>
      withLines(rowsAround(range, virtual.scrollDirection), [selectedAt, placeOf(shown, range.startIndex).heading]),
  })
  const items = virtual.getVirtualItems()
  const heightPx = useHeight(box, virtual.getTotalSize(), folds)

  // The list keeps the heights that it was given first.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the event
  useLayoutEffect(() => virtual.measure(), [rowPx])

  useLayoutEffect(() => {
    if (!wantsFocus.current || !selected) return
    const top = items.find(({ index }) => index === selectedAt)?.start ?? 0
    const scrolledPx = virtual.scrollOffset ?? 0
    if (selected.action !== undefined || top >= scrolledPx) virtual.scrollToIndex(selectedAt, { align: 'auto' })
    // A heading is in sight while its rows are scrolled through. Folded there, it stays where it was seen.
    else if (top + placeOf(shown, selectedAt).rows * rowPx < scrolledPx) virtual.scrollToOffset(top)
    // Before the box was measured no row is drawn: then the next time.
    wantsFocus.current = !focusRow()
  })

  const isAtEnd = (items.at(-1)?.index ?? 0) >= lines.length - LAST_ROWS
  const askedAt = useRef(0)
  useLayoutEffect(() => {
    // Once for each number of rows: where older ones bring none of this view, somebody has to ask for more.
    if (!isAtEnd || lines.length <= askedAt.current) return
    if (onEnd()) askedAt.current = lines.length
  }, [isAtEnd, lines.length, onEnd])

  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_MOVES, PageUp: -PAGE_MOVES, Home: -lines.length, End: lines.length }[event.key]
    if (by !== undefined) onMove(by)
    else if (event.key === 'Enter') onOpen()
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') fold(event.key === 'ArrowLeft', event.shiftKey)
    else return
    event.preventDefault()
  }

  /** As in a tree: a row leads to its heading, which folds; a heading unfolds, then leads to its first row. */
  function fold(isFolding: boolean, all: boolean) {
    if (all) folds.foldAll(isFolding)
    else if (selected?.groupId === undefined) return
    else if (selected.action !== undefined) isFolding && onMove(placeOf(shown, selectedAt).heading - selectedAt)
    else if (folds.isFolded(selected.id) !== isFolding) onFold(selected.id)
    else if (!isFolding) onMove(1)
  }

  return (
    // biome-ignore-start lint/a11y: it is a list box or a tree
    <div
      role={isGrouped ? 'tree' : 'listbox'}
      tabIndex={-1}
      aria-label="Actions"
      data-choosing={chosenIds.size > 0}
      data-grouped={isGrouped}
      className="inbox-rows"
      data-testid="waiting-list"
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: heightPx }}>
        {items.map(({ index, start }) => {
          const line = lines[index]
          if (!line) return null
          const { id, action } = line
          const group = line.groupId === undefined ? undefined : groups.get(line.groupId)
          const { heading, rows, at, of } = placeOf(shown, index)
          const place = { at, of, isSelected: index === selectedAt, top: start, nowMs }
          if (action === undefined) {
            return (
              group && (
                <GroupHeading
                  key={id}
                  {...place}
                  group={group}
                  isFolded={folds.isFolded(id)}
                  isChosen={areChosen(group)}
                  height={HEADING_PX + rows * rowPx}
                  onFold={onFoldHeading}
                  onChoose={onChooseGroup}
                />
              )
            )
          }
          return (
            <Row
              key={id}
              {...place}
              action={action}
              level={isGrouped ? (heading >= 0 ? 2 : 1) : undefined}
              isChosen={chosenIds.has(id)}
              meId={me.id}
              until={snoozes.get(id)}
              columns={(heading >= 0 && group?.columns) || NONE}
              onPick={onPick}
              onChoose={onChoose}
            />
          )
        })}
      </div>
    </div>
    // biome-ignore-end lint/a11y: see above
  )
}

const NONE: readonly string[] = []

type Handlers = Pick<RowListProps, 'onPick' | 'onChoose' | 'onChooseGroup' | 'onFold'>

/** Returns functions that stay the same and call the latest ones: a row whose handlers are new is drawn again. */
function useSameHandlers(latest: Handlers): Handlers {
  const handlers = useRef(latest)
  handlers.current = latest
  return useMemo(
    () => ({
      onPick: (id) => handlers.current.onPick(id),
      onChoose: (id) => handlers.current.onChoose(id),
      onChooseGroup: (group) => handlers.current.onChooseGroup(group),
      onFold: (groupId) => handlers.current.onFold(groupId),
    }),
    [],
  )
}

/** Returns a function that says how much of a group is chosen. It goes through each group once, not with every frame. */
function chosenAmong(chosenIds: ReadonlySet<string>): (group: Group) => boolean | 'mixed' {
  const known = new WeakMap<Group, boolean | 'mixed'>()
  return (group) => {
    if (chosenIds.size === 0) return false
    let are = known.get(group)
    if (are === undefined) {
      const chosen = group.open.filter(({ id }) => chosenIds.has(id)).length
      are = chosen === group.open.length || (chosen > 0 && 'mixed')
      known.set(group, are)
    }
    return are
  }
}

/**
 * The height of the list in px. Lines that are folded away leave their room below the others, until somebody scrolls up: a browser would move what
 * is in sight of a list that ends above it.
 */
function useHeight(box: HTMLElement | null, linesPx: number, folds: Folds): number {
  const leastPx = useRef(0)
  const before = useRef(folds)
  const isFolding = before.current !== folds
  before.current = folds
  if (box && (isFolding || leastPx.current > 0)) {
    const seenPx = box.scrollTop === 0 ? 0 : box.scrollTop + box.clientHeight
    leastPx.current = isFolding ? seenPx : Math.min(leastPx.current, seenPx)
  }
  if (leastPx.current <= linesPx) leastPx.current = 0
  return Math.max(linesPx, leastPx.current)
}

type Direction = Virtualizer<HTMLDivElement, Element>['scrollDirection']

/** The rows in sight and around it. */
function rowsAround({ startIndex, endIndex, overscan, ...range }: Range, direction: Direction): number[] {
  const above = direction === 'forward' ? ROWS_BEHIND : overscan
  const below = direction === 'backward' ? ROWS_BEHIND : overscan
  return defaultRangeExtractor({ ...range, startIndex: startIndex - above, endIndex: endIndex + below, overscan: 0 })
}

function withLines(drawn: number[], more: readonly number[]): number[] {
  const missing = new Set(more.filter((at) => at >= 0 && !drawn.includes(at)))
  return missing.size === 0 ? drawn : [...drawn, ...missing].sort((a, b) => a - b)
}

/** Puts the focus on the selected line. False when it is not drawn. */
export function focusRow(): boolean {
  const row = document.querySelector<HTMLElement>('.inbox-rows [aria-selected=true]')
  row?.focus({ preventScroll: true })
  return row !== null
}
