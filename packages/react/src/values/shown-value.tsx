import { LONG_TEXT_CHARS, stays } from '@countersign/core/text'
import type { ReactNode } from 'react'
import type { ValueProps } from '../change-rows.tsx'
import { ListValue } from '../list-value.tsx'
import { placeOf } from './place-of.ts'
import { ReadAs } from './read-as.tsx'
import { ShownImage } from './shown-image.tsx'

/** One value of a preview: a list by its entries, a time or an amount as people read it beside what is stored; everything else as text, `children`. */
export function ShownValue({ row, rows, side, path, against, children }: ValueProps & { children: ReactNode }) {
  const [value, other] = side === 'new' ? [row.newValue, row.oldValue] : [row.oldValue, row.newValue]
  if (Array.isArray(value))
    return <ListValue value={value} other={stays(row) ? undefined : other} path={`${path}/${side}`} against={against} />
  return (
    <>
      {/* A longer text shows its picture itself. */}
      {typeof value === 'string' && value.length <= LONG_TEXT_CHARS ? <ShownImage text={value} /> : null}
      <ReadAs value={value} place={placeOf(row, rows, side)}>
        {children}
      </ReadAs>
    </>
  )
}
