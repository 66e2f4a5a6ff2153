import type { ReactNode } from 'react'
import { EndMark } from './end-mark.tsx'
import { RevealButton, useReveal } from './reveal.tsx'

const PATH = 'preview'

/**
 * The rows of a preview after the first hundred: a button that says how many they are, then a box that scrolls and takes the focus.
 * @param rows Draws them, once they are open: 10,000 take seconds.
 */
export function FoldedRows({ count, rows }: { count: number; rows: () => ReactNode }) {
  const { isOpen, box, reveal } = useReveal<HTMLUListElement>(PATH)
  const text = `${count.toLocaleString('en')} more ${count === 1 ? 'row' : 'rows'}`
  if (!isOpen) return <RevealButton path={PATH} hidden={text} onReveal={reveal} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <ul ref={box} className="cs-read" tabIndex={0} data-part={PATH} aria-label={text}>
      {rows()}
      <li>
        <EndMark path={PATH} />
      </li>
    </ul>
  )
}
