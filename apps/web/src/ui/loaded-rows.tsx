import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Loaded } from './loaded.tsx'
import { More } from './more.tsx'

type LoadedRowsProps<Item> = {
  of: UseInfiniteQueryResult<Item[]>
  /** The height of the placeholder while it loads. */
  height: number
  /** The name of the list, for screen readers. */
  label: string
  /** Shown in place of an empty list. */
  empty: ReactNode
  className?: string
  /** Draws one row. */
  children: (item: Item) => ReactNode
}

/** Shows a list that is read page by page, with a button for the next page. */
export function LoadedRows<Item>({ of, height, label, empty, className = 'rows', children }: LoadedRowsProps<Item>) {
  return (
    <>
      <Loaded of={of} height={height}>
        {(items) =>
          items.length === 0 ? (
            empty
          ) : (
            <ul className={className} aria-label={label}>
              {items.map(children)}
            </ul>
          )
        }
      </Loaded>
      <More of={of} />
    </>
  )
}
