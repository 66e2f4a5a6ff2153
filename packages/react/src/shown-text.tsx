import { type ComponentType, memo } from 'react'
import type { MarkedTextProps } from './diff/marked-text.tsx'
import { showInvisible, showLines, useMarks } from './show-text.ts'

export type LongTextProps = {
  text: string
  path: string
  lines?: boolean
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
export const Shown = memo(function Shown({ text, lines }: { text: string; lines: boolean }) {
  useMarks(text)
  return <>{lines ? showLines(text) : showInvisible(text)}</>
})
