import { showInvisible, showLines } from '@countersign/core/text'
import { createContext, useContext } from 'react'

/** Longer texts are shown by head and tail. */
export const LONG_TEXT_CHARS = 600
const HEAD_CHARS = 240
const TAIL_CHARS = 120

/** Which long texts of one card a person has opened, by their path. */
export type Opened = { has: (path: string) => boolean; open: (path: string) => void }
export const OpenedTexts = createContext<Opened>({ has: () => true, open: () => {} })

/** A text, whole when it is short or opened; else head and tail around a button that says how much is hidden. */
export function LongText({ text, path, lines = false }: { text: string; path: string; lines?: boolean }) {
  const opened = useContext(OpenedTexts)
  const show = lines ? showLines : showInvisible
  if (text.length <= LONG_TEXT_CHARS || opened.has(path)) return <>{show(text)}</>
  const headEnd = wholeCharacter(text, HEAD_CHARS)
  const tailStart = wholeCharacter(text, text.length - TAIL_CHARS)
  return (
    <>
      {show(text.slice(0, headEnd))}
      <button type="button" className="cs-reveal" onClick={() => opened.open(path)}>
        {(tailStart - headEnd).toLocaleString('en')} characters hidden, show all
      </button>
      {show(text.slice(tailStart))}
    </>
  )
}

/** `index`, or one less where it would cut a surrogate pair in two. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index
}
