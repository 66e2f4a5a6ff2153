import { MAX_HIDDEN_CHARS } from '@countersign/core/text'
import type { ReactNode, Ref } from 'react'
import { EndMark } from './end-mark.tsx'

/** "1 entry", "12 entries". */
export const entriesText = (many: number): string => `${many.toLocaleString('en')} ${many === 1 ? 'entry' : 'entries'}`

type OpenedListProps = {
  box: Ref<HTMLDivElement>
  /** Of the part that is shown whole, and of another that ends with it. */
  path: string
  other?: string | undefined
  /** The length of the entries as JSON. */
  chars: number
  count: number
  children: ReactNode
}

/** A list that was opened: it takes the focus of its button, and a very long one scrolls in a box, which the keyboard reaches. */
export function OpenedList({ box, path, other, chars, count, children }: OpenedListProps) {
  const scrolls = { className: 'cs-read', tabIndex: 0, role: 'region', 'aria-label': `Whole list, ${entriesText(count)}` }
  return (
    <div ref={box} data-part={path} {...(chars > MAX_HIDDEN_CHARS ? scrolls : { tabIndex: -1 })}>
      {children}
      <EndMark path={path} />
      {other === undefined ? null : <EndMark path={other} />}
    </div>
  )
}
