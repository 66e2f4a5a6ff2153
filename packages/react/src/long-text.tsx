import { HEAD_CHARS, LONG_TEXT_CHARS } from '@countersign/core/text'
import { NOT_LOADED } from './card/card-facts.ts'
import { createPart, usePart } from './parts.ts'
import { type LongTextProps, Shown, Whole } from './shown-text.tsx'

/** Long texts with their button and their search, lists, times and numbers. The card approves nothing that has one before it is loaded. */
export const FOLDED = createPart(() => import('./folded.ts'))

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
