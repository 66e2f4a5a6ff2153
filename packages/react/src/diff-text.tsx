import { LONG_DIFF_CHARS, showInvisible } from '@countersign/core/text'
import { useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { EndMark } from './end-mark.tsx'
import { RevealButton, useReveal } from './reveal.tsx'
import { useViewed } from './viewed.ts'

const MARKS: Record<string, 'ins' | 'del'> = { '+': 'ins', '-': 'del' }

type Line = { text: string; mark: 'ins' | 'del' | undefined }

/**
 * A unified diff of one file as it is, each changed line marked by its sign and its colour. Where there is room, removed and added lines stand
 * side by side. It can be folded, and marked as viewed, which folds it.
 * @param viewer Names the person and the version of the action, for the mark.
 */
export function DiffText({ diff, path, viewer }: { diff: string; path: string; viewer: string }) {
  const { isOpen, box, reveal } = useReveal<HTMLPreElement>(path)
  const [isViewed, markViewed] = useViewed(`${viewer} ${path}`)
  const [chosen, setChosen] = useState<boolean>()
  const isUnfolded = chosen ?? !isViewed
  const lines = linesOf(diff)
  const shown = isOpen ? lines.length : `${diff}\n`.slice(0, LONG_DIFF_CHARS).split('\n').length - 1
  const hidden = lines.length - shown
  const count = (mark: Line['mark']) => lines.filter((line) => line.mark === mark).length
  return (
    <div className="cs-diff">
      <details open={isUnfolded} onToggle={({ currentTarget }) => currentTarget.open !== isUnfolded && setChosen(currentTarget.open)}>
        <summary>
          Diff{' '}
          <span className="cs-note">
            <ins>+{count('ins')}</ins> <del>−{count('del')}</del>
          </span>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre ref={box} tabIndex={0} data-part={hidden > 0 ? undefined : path}>
          {blocksOf(lines.slice(0, shown)).map((block, at) =>
            block.isChange ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one diff are never reordered
              <span key={at} className="cs-hunk">
                {block.lines.map(drawLine)}
              </span>
            ) : (
              block.lines.map(drawLine)
            ),
          )}
          {hidden > 0 ? null : <EndMark path={path} />}
        </pre>
        {hidden > 0 ? <RevealButton path={path} hidden={`${hidden} lines`} onReveal={reveal} /> : null}
        <CopyButton text={() => diff} label="Copy diff" />
      </details>
      <label className="cs-viewed">
        <input
          type="checkbox"
          checked={isViewed}
          onChange={({ currentTarget }) => {
            markViewed(currentTarget.checked)
            setChosen(undefined)
          }}
        />
        Viewed
      </label>
    </div>
  )
}

function linesOf(diff: string): Line[] {
  const texts = diff.replace(/\n$/, '').split('\n')
  const first = texts.findIndex((line) => line.startsWith('@@'))
  return texts.map((text, at) => ({ text, mark: at > first ? MARKS[text.charAt(0)] : undefined }))
}

/** Lines that follow each other, changed or not: a change stands side by side as a whole. */
function blocksOf(lines: readonly Line[]): { isChange: boolean; lines: Line[] }[] {
  const blocks: { isChange: boolean; lines: Line[] }[] = []
  for (const line of lines) {
    const isChange = line.mark !== undefined
    const last = blocks.at(-1)
    if (last?.isChange === isChange) last.lines.push(line)
    else blocks.push({ isChange, lines: [line] })
  }
  return blocks
}

function drawLine({ text, mark }: Line, at: number) {
  const Mark = mark ?? 'span'
  return (
    <Mark key={at} className="cs-diff-line">
      {[showLine(text), '\n']}
    </Mark>
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
