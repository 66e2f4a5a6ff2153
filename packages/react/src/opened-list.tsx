import { MAX_HIDDEN_CHARS } from '@countersign/core/text'
import type { ReactNode, Ref } from 'react'
import { EndMark } from './end-mark.tsx'

/** Returns the number of entries in words: "1 entry", "12 entries". */
export const entriesText = (many: number): string => `${many.toLocaleString('en')} ${many === 1 ? 'entry' : 'entries'}`

type OpenedListProps = {
  box: Ref<HTMLDivElement>
  /** Path of the part that this list shows. */
  path: string
  /** Path of a second part that is read to its end with this list. */
  other?: string | undefined
  /** The length of the entries as JSON. */
  chars: number
  count: number
  children: ReactNode
}

/** Shows a list that was opened. It can take the focus; a list over `MAX_HIDDEN_CHARS` scrolls in a region that the keyboard reaches. */
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
