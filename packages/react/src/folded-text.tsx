import { HEAD_CHARS, MAX_HIDDEN_CHARS, TAIL_CHARS } from '@countersign/core/text'
import { EndMark } from './end-mark.tsx'
import { Find } from './find.tsx'
import { RevealButton, useReveal } from './reveal.tsx'
import { type LongTextProps, Shown, Whole } from './shown-text.tsx'
import { ShownImage } from './values/shown-image.tsx'

/**
 * A long text: head and tail around a button that says how much is hidden, and a search. Once it is open it scrolls in a box of its own and takes the
 * focus, so that the keys that scroll work at once; opened by the search, the focus stays there.
 */
export function FoldedText(props: LongTextProps) {
  const { text, path, lines = false, inBox = false } = props
  const { isOpen, box, open, reveal } = useReveal<HTMLSpanElement>(path)
  const isBoxed = text.length > MAX_HIDDEN_CHARS && !inBox
  const headEnd = wholeCharacter(text, HEAD_CHARS)
  const tailStart = wholeCharacter(text, text.length - TAIL_CHARS)
  return (
    <>
      {/* Among the arguments, a text is in quotes. */}
      <ShownImage text={text.replace(/^"(.*)"$/, '$1')} />
      {isOpen ? null : (
        <>
          <Shown text={text.slice(0, headEnd)} lines={lines} />
          <RevealButton path={path} hidden={count(tailStart - headEnd)} onReveal={reveal} />
        </>
      )}
      <Find text={text} box={box} isOpen={isOpen} onOpen={open} />
      {isOpen ? (
        <span
          ref={box}
          data-part={path}
          // A box that scrolls is reached by keyboard; other text is only where the focus goes when its button does.
          {...(isBoxed
            ? { className: 'cs-read', tabIndex: 0, role: 'region', 'aria-label': `Whole text, ${count(text.length)}` }
            : { tabIndex: -1 })}
        >
          <Whole {...props} />
          <EndMark path={path} />
        </span>
      ) : (
        <Shown text={text.slice(tailStart)} lines={lines} />
      )}
    </>
  )
}

const count = (chars: number): string => `${chars.toLocaleString('en')} characters`

/** `index`, or one less where it would cut a surrogate pair in two. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index
}
