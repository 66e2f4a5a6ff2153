import { showValue } from '@countersign/core/text'
import { memo } from 'react'
import { markWords } from './mark-words.ts'
import { Pieces } from './pieces.tsx'

export type MarkedTextProps = {
  text: string
  /** The other version. */
  other: string
  /** The version that `text` is. */
  side: 'old' | 'new'
}

/** One of two versions of a text, whole, with the words marked that the other one does not have. */
export const MarkedText = memo(function MarkedText({ text, other, side }: MarkedTextProps) {
  const marked = side === 'old' ? markWords(text, other)?.[0] : markWords(other, text)?.[1]
  return marked ? <Pieces pieces={marked} /> : showValue(text)
})
