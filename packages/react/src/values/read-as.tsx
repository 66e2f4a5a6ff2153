import { valueText } from '@countersign/core/text'
import type { ReactNode } from 'react'
import { type Place, readValue } from './read-value.ts'

/**
 * A value as the reader's language writes it, and beside that as it is stored: what is approved is the stored one, and two values that read the same
 * stay two. `children`: the value as text, for every value that has no reading.
 */
export function ReadAs({ value, place, children }: { value: unknown; place: Place; children: ReactNode }) {
  const reading = readValue(value, place)
  if (reading === undefined) return children
  const { text, iso } = reading
  return (
    <>
      {iso === undefined ? <bdi>{text}</bdi> : <time dateTime={iso}>{text}</time>}
      <span className="cs-hidden">, stored as</span> <code className="cs-exact">{valueText(value)}</code>
    </>
  )
}
