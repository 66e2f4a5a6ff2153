import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useState } from 'react'
import './virtual-rows.css'

/** The end is near when so few rows are left below. */
const LAST_ROWS = 20

/** The attributes that place a row in the list. Spread them on its `li`. */
export interface RowPlace {
  'aria-posinset': number
  'aria-setsize': number
  style: CSSProperties
}

type VirtualRowsProps<Row> = {
  rows: readonly Row[]
  /** The height of a row in px, as in the style sheet of the page. */
  rowPx: number
  /** Class of the box that scrolls. */
  className: string
  /** The name of the list, for screen readers. */
  label: string
  /** Called near the end of the list. */
  onEnd?: () => void
  /** Draws a row, with its id as key. */
  children: (row: Row, place: RowPlace) => ReactNode
}

/** The rows of a long list, of which only those in sight are drawn. */
export function VirtualRows<Row extends { id: string }>({ rows, rowPx, className, label, onEnd, children }: VirtualRowsProps<Row>) {
  const [box, setBox] = useState<HTMLElement | null>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box,
    estimateSize: () => rowPx,
    overscan: 10,
    getItemKey: (at) => rows[at]?.id ?? at,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the event, not an input
  useLayoutEffect(() => virtual.measure(), [rowPx, virtual])
  const items = virtual.getVirtualItems()
  const isAtEnd = items.length > 0 && (items.at(-1)?.index ?? 0) >= rows.length - LAST_ROWS && (virtual.scrollOffset ?? 0) > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: where the list stands is the event, not an input
  useEffect(() => {
    if (isAtEnd) onEnd?.()
  }, [isAtEnd, rows.length])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section ref={setBox} className={`virtual-rows ${className}`} aria-label={label} tabIndex={0}>
      <ol style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index]
          const style = { transform: `translateY(${start}px)` }
          return row && children(row, { 'aria-posinset': index + 1, 'aria-setsize': rows.length, style })
        })}
      </ol>
    </section>
  )
}
