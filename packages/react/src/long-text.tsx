import { HEAD_CHARS, LONG_TEXT_CHARS, MAX_HIDDEN_CHARS, TAIL_CHARS } from '@countersign/core/text'
import { type ComponentType, memo } from 'react'
import type { MarkedTextProps } from './diff/marked-text.tsx'
import { EndMark } from './end-mark.tsx'
import { RevealButton, useReveal } from './reveal.tsx'
import { showInvisible, showLines, useMarks } from './show-text.ts'

type LongTextProps = {
  text: string
  path: string
  lines?: boolean
  /** True inside a box that scrolls already. */
  inBox?: boolean
  /** The other version of the text: once the text is whole, the words that changed are marked in it. */
  against?: Against | undefined
}

export type Against = Omit<MarkedTextProps, 'text'> & { MarkedText: ComponentType<MarkedTextProps> }

/**
 * A text, whole when it is short or opened; else head and tail around a button that says how much is hidden. A long one that was opened
 * scrolls in a box of its own and takes the focus, so that the keys that scroll work at once.
 */
export function LongText({ text, path, lines = false, inBox = false, against }: LongTextProps) {
  const { isOpen, box, reveal } = useReveal<HTMLSpanElement>(path)
  if (text.length <= LONG_TEXT_CHARS) return <Whole text={text} lines={lines} against={against} />
  if (isOpen) {
    const isBoxed = text.length > MAX_HIDDEN_CHARS && !inBox
    return (
      <span
        ref={box}
        data-part={path}
        // A box that scrolls is reached by keyboard; other text is only where the focus goes when its button does.
        {...(isBoxed
          ? { className: 'cs-read', tabIndex: 0, role: 'region', 'aria-label': `Whole text, ${count(text.length)}` }
          : { tabIndex: -1 })}
      >
        <Whole text={text} lines={lines} against={against} />
        <EndMark path={path} />
      </span>
    )
  }
  const headEnd = wholeCharacter(text, HEAD_CHARS)
  const tailStart = wholeCharacter(text, text.length - TAIL_CHARS)
  return (
    <>
      <Shown text={text.slice(0, headEnd)} lines={lines} />
      <RevealButton path={path} hidden={count(tailStart - headEnd)} onReveal={reveal} />
      <Shown text={text.slice(tailStart)} lines={lines} />
    </>
  )
}

function Whole({ text, lines, against }: { text: string; lines: boolean; against: Against | undefined }) {
  if (against === undefined) return <Shown text={text} lines={lines} />
  return <against.MarkedText text={text} other={against.other} side={against.side} />
}

/** A card draws itself every few seconds; half a million characters are marked once. */
const Shown = memo(function Shown({ text, lines }: { text: string; lines: boolean }) {
  useMarks(text)
  return <>{lines ? showLines(text) : showInvisible(text)}</>
})

const count = (chars: number): string => `${chars.toLocaleString('en')} characters`

/** `index`, or one less where it would cut a surrogate pair in two. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index
}
