import { LONG_DIFF_CHARS, showInvisible } from '@countersign/core/text'
import { CopyButton } from './copy-button.tsx'
import { EndMark } from './end-mark.tsx'
import { RevealButton, useReveal } from './reveal.tsx'

const MARKS: Record<string, 'ins' | 'del'> = { '+': 'ins', '-': 'del' }

/** A unified diff as it is, each changed line marked by its sign and its colour. */
export function DiffText({ diff, path }: { diff: string; path: string }) {
  const { isOpen, box, reveal } = useReveal<HTMLPreElement>(path)
  const lines = diff.replace(/\n$/, '').split('\n')
  const first = lines.findIndex((line) => line.startsWith('@@'))
  const shown = isOpen ? lines.length : `${diff}\n`.slice(0, LONG_DIFF_CHARS).split('\n').length - 1
  const hidden = lines.length - shown
  return (
    <div className="cs-diff">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre ref={box} tabIndex={0} data-part={hidden > 0 ? undefined : path}>
        {lines.slice(0, shown).map((line, at) => {
          const Mark = (at > first && MARKS[line.charAt(0)]) || 'span'
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one diff are never reordered
          return <Mark key={at}>{[showLine(line), '\n']}</Mark>
        })}
        {hidden > 0 ? null : <EndMark path={path} />}
      </pre>
      {hidden > 0 ? <RevealButton path={path} hidden={`${hidden} lines`} onReveal={reveal} /> : null}
      <CopyButton text={() => diff} label="Copy diff" />
    </div>
  )
}

/** Marks tabs, which stay tabs in copied text, and the spaces at the end of a line. */
const showLine = (line: string) =>
  line.split(/(\t+|(?<=.) +$)/).map((piece, at) =>
    at % 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one line are never reordered
      <span key={at} className="cs-space">
        {piece}
      </span>
    ) : (
      showInvisible(piece)
    ),
  )
