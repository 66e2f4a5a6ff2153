import { LONG_TEXT_CHARS, stays } from '@countersign/core/text'
import type { ReactNode } from 'react'
import type { ValueProps } from '../change-rows.tsx'
import { ListValue } from '../list-value.tsx'
import { ReadAs } from './read-as.tsx'
import type { Place } from './read-value.ts'
import { ShownImage } from './shown-image.tsx'

/** One value of a preview: a list by its entries, a time or an amount as people read it beside what is stored; everything else as text, `children`. */
export function ShownValue({ children, ...props }: ValueProps & { children: ReactNode }) {
  const { row, side, path, against } = props
  const [value, other] = side === 'new' ? [row.newValue, row.oldValue] : [row.oldValue, row.newValue]
  if (Array.isArray(value))
    return <ListValue value={value} other={stays(row) ? undefined : other} path={`${path}/${side}`} against={against} />
  return (
    <>
      {/* A longer text shows its picture itself. */}
      {typeof value === 'string' && value.length <= LONG_TEXT_CHARS ? <ShownImage text={value} /> : null}
      <ReadAs value={value} place={placeOf(props)}>
        {children}
      </ReadAs>
    </>
  )
}

/** The rows of one object have names that are alike up to their last dot: `order.amount` and `order.currency`. */
function placeOf({ row, rows, side }: ValueProps): Place {
  const object = objectOf(row.field)
  const beside = rows.filter(({ field, unverified }) => !unverified && objectOf(field) === object)
  return {
    name: row.field.slice(object.length),
    beside: beside.map((other) => [other.field.slice(object.length), other[`${side}Value`]]),
  }
}

const objectOf = (field: string): string => field.slice(0, field.lastIndexOf('.') + 1)
