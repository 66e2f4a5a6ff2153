import { type ComponentType, memo } from 'react'
import type { MarkedTextProps } from './diff/marked-text.tsx'
import { showInvisible, showLines, showValue, useMarks } from './show-text.ts'

export type LongTextProps = {
  text: string
  path: string
  /** Which of its line feeds stay: all of them in a box of words, `between` the lines of a value. Default none. */
  lines?: boolean | 'between'
  /** True inside a box that scrolls already. */
  inBox?: boolean
  /** The other version of the text: once the text is whole, the words that changed are marked in it. */
  against?: Against | undefined
}

export type Against = Omit<MarkedTextProps, 'text'> & { MarkedText: ComponentType<MarkedTextProps> }

/** A text as it is shown, with the words marked that another version does not have. */
export function Whole({ text, lines = false, against }: LongTextProps) {
  if (against === undefined) return <Shown text={text} lines={lines} />
  return <against.MarkedText text={text} other={against.other} side={against.side} />
}

/** A card draws itself every few seconds; half a million characters are marked once. */
export const Shown = memo(function Shown({ text, lines }: { text: string; lines: boolean | 'between' }) {
  useMarks(text)
  return <>{(lines === 'between' ? showValue : lines ? showLines : showInvisible)(text)}</>
})
