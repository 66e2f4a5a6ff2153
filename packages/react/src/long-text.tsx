import { HEAD_CHARS, LONG_TEXT_CHARS } from '@countersign/core/text'
import { type ComponentType, memo } from 'react'
import { NOT_LOADED } from './card/card-facts.ts'
import type { MarkedTextProps } from './diff/marked-text.tsx'
import { createPart, usePart } from './parts.ts'
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

/** Long texts with their button and their search. The card approves nothing that has one before it is loaded. */
export const FOLDED = createPart(() => import('./folded-text.tsx'))

/** A text, whole when it is short, else collapsed: see `FoldedText`. */
export function LongText(props: LongTextProps) {
  const { text, lines = false } = props
  const isLong = text.length > LONG_TEXT_CHARS
  const { state, module } = usePart(FOLDED, isLong)
  if (!isLong) return <Whole {...props} />
  if (module) return <module.FoldedText {...props} />
  return (
    <>
      <Shown text={text.slice(0, HEAD_CHARS)} lines={lines} />
      <span className="cs-note"> … {state === 'failed' ? NOT_LOADED : 'Loading…'}</span>
    </>
  )
}

export function Whole({ text, lines = false, against }: LongTextProps) {
  if (against === undefined) return <Shown text={text} lines={lines} />
  return <against.MarkedText text={text} other={against.other} side={against.side} />
}

/** A card draws itself every few seconds; half a million characters are marked once. */
export const Shown = memo(function Shown({ text, lines }: { text: string; lines: boolean }) {
  useMarks(text)
  return <>{lines ? showLines(text) : showInvisible(text)}</>
})
