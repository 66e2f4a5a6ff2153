import { isPlain } from '@countersign/core/text'
import { type RefObject, useEffect, useState } from 'react'
import { CardButton } from './card-button.tsx'
import { isComposing } from './is-composing.ts'
import { useMarks } from './show-text.ts'

type FindProps = {
  text: string
  /** The element that shows the text once it is open. */
  box: RefObject<HTMLElement | null>
  isOpen: boolean
  onOpen: () => void
}

/** The name of the highlight that card.css draws. */
const MARK = 'cs-find'
const NOT_MATCHED = ' Letters that only look alike are not matched.'

/**
 * A search in a text that is collapsed at first, as the card shows it: what is typed opens the text. One match at a time is marked and scrolled to.
 * The text itself stays as it is: the mark is a highlight of the browser, so half a million characters are not drawn again.
 */
export function Find({ text, box, isOpen, onOpen }: FindProps) {
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const [count, setCount] = useState(0)
  const marks = useMarks(text)
  // Not a layout effect: the box comes after the search on the page, and has no ref yet then.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with its marks the text is another one, in which the places of the matches have moved
  useEffect(() => {
    const pattern = isOpen ? patternOf(query) : undefined
    if (pattern === undefined || box.current === null) return setCount(0)
    const found = rangesOf(box.current, pattern)
    setCount(found.count)
    return markRange(found.rangeAt(at))
  }, [query, at, isOpen, box, marks.state])
  const search = (wanted: string) => {
    setQuery(wanted)
    setAt(0)
    if (wanted.trim() !== '') onOpen()
  }
  const step = (by: number) => setAt(count === 0 ? 0 : (at + by + count) % count)
  const isOn = query.trim() !== ''
  return (
    <span className="cs-find" dir="ltr" data-on={isOn || undefined}>
      <input
        aria-label="Find in text"
        placeholder="Find in text"
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event)) return
          if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) step(event.shiftKey ? -1 : 1)
          else if (event.key === 'Escape' && query !== '') search('')
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      {isOn ? (
        <>
          <CardButton className="cs-small" aria-label="Previous match" onClick={() => step(-1)}>
            ↑
          </CardButton>
          <CardButton className="cs-small" aria-label="Next match" onClick={() => step(1)}>
            ↓
          </CardButton>
        </>
      ) : null}
      <span role="status">{isOn && isOpen ? foundText(at, count, isPlain(text)) : ''}</span>
    </span>
  )
}

function foundText(at: number, count: number, isAllPlain: boolean): string {
  const found = count === 0 ? 'No match' : `${(at + 1).toLocaleString('en')} of ${count.toLocaleString('en')}`
  return isAllPlain ? found : `${found}.${NOT_MATCHED}`
}

/** A mark of the card for what cannot be seen. Its length is bounded, so that a text full of brackets costs no time. */
const CARD_MARK = '⟦[^⟦⟧]{1,80}⟧'

/**
 * Returns a pattern that matches `query` in any case, with its accents composed or not; undefined for an empty query. Marks of the
 * card inside a match are passed over, and a space stands for every run of them, also for a line feed and for one that JSON spells out.
 */
function patternOf(query: string): RegExp | undefined {
  const wanted = query.trim()
  if (wanted === '') return undefined
  const chars = [...wanted.normalize('NFC').replace(/\s+/g, ' ')].map((char) => {
    if (char === ' ') return String.raw`(?:\s|\\[nrt]|${CARD_MARK})+`
    const apart = char.normalize('NFD')
    return apart === char ? char.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`) : `(?:${char}|${apart})`
  })
  return new RegExp(chars.join(/[⟦⟧]/.test(wanted) ? '' : `(?:${CARD_MARK})*`), 'giu')
}

/** The matches in what `box` shows. */
function rangesOf(box: HTMLElement, pattern: RegExp): { count: number; rangeAt: (at: number) => Range | undefined } {
  const nodes: { node: Node; end: number }[] = []
  let text = ''
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    text += node.nodeValue
    nodes.push({ node, end: text.length })
  }
  const found = [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length] as const)
  const place = (index: number, isEnd: boolean): [Node, number] | undefined => {
    const of = nodes.findIndex(({ end }) => (isEnd ? index <= end : index < end))
    const inside = nodes[of]
    return inside && [inside.node, index - (nodes[of - 1]?.end ?? 0)]
  }
  const rangeAt = (at: number) => {
    const [start, end] = [place(found[at]?.[0] ?? Infinity, false), place(found[at]?.[1] ?? Infinity, true)]
    if (!start || !end) return undefined
    const range = document.createRange()
    range.setStart(...start)
    range.setEnd(...end)
    return range
  }
  return { count: found.length, rangeAt }
}

/** Marks a match and scrolls to it. Returns what takes the mark away. */
function markRange(range: Range | undefined): (() => void) | undefined {
  if (range === undefined) return undefined
  scrollToRange(range)
  // Firefox before 140 has no highlights: there the match is scrolled to, and the count says which one it is.
  if (!('highlights' in CSS)) return undefined
  const mark = new Highlight(range)
  CSS.highlights.set(MARK, mark)
  return () => {
    if (CSS.highlights.get(MARK) === mark) CSS.highlights.delete(MARK)
  }
}

/**
 * Scrolls to a match: the box of a long text, and the page as far as it has to. A short text has no box: an element takes the place of the match for a
 * moment, because a range cannot be scrolled to. In a long text that would lay out all of it again.
 */
function scrollToRange(range: Range): void {
  const parent = range.startContainer.parentElement
  const box = parent?.closest<HTMLElement>('.cs-read, pre')
  const { top, height } = range.getBoundingClientRect()
  if (box) {
    const from = top - box.getBoundingClientRect().top
    // Room for the line before it, and for the field, which stays at the upper edge of some boxes.
    if (from < LINES_PX || from + height > box.clientHeight - height) box.scrollTop += from - box.clientHeight / 2
    box.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    return
  }
  const text = parent?.closest<HTMLElement>('[data-part]')
  if (!text) return
  const place = document.createElement('span')
  place.className = 'cs-found'
  text.append(place)
  place.style.insetBlockStart = `${top - place.getBoundingClientRect().top}px`
  place.style.blockSize = `${height}px`
  place.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  place.remove()
}

const LINES_PX = 72
