import { LONG_DIFF_CHARS } from '@countersign/core/text'
import { memo, useMemo, useState } from 'react'
import { CopyButton } from '../copy-button.tsx'
import { EndMark } from '../end-mark.tsx'
import { FOLDED } from '../long-text.tsx'
import { usePart } from '../parts.ts'
import { RevealButton, useReveal } from '../reveal.tsx'
import { CODE, languageOf } from './code-part.ts'
import { markWords, type Piece, piecesOf } from './mark-words.ts'
import { Pieces } from './pieces.tsx'
import { useViewed } from './viewed.ts'

const MARKS: Record<string, 'ins' | 'del'> = { '+': 'ins', '-': 'del' }

type Line = { text: string; mark: 'ins' | 'del' | undefined; isCode: boolean }

/** Gives the pieces of a line of code their colours. */
type Colour = (pieces: readonly Piece[]) => readonly Piece[]

/**
 * A unified diff of one file as it is, each changed line marked by its sign and its colour, and the words that changed inside it; code has the colours of its
 * language. Where there is room, removed and added lines stand side by side. It can be folded, and marked as viewed, which folds it. A long one has a search.
 * @param viewer Names the person and the version of the action, for the mark.
 */
export function DiffText({ diff, path, viewer }: { diff: string; path: string; viewer: string }) {
  const { isOpen, box, open, reveal } = useReveal<HTMLPreElement>(path)
  const [isViewed, markViewed] = useViewed(`${viewer} ${path}`)
  const [chosen, setChosen] = useState<boolean>()
  const isUnfolded = chosen ?? !isViewed
  const language = languageOf(diff)
  const code = usePart(CODE, language !== undefined).module
  const colour = useMemo<Colour | undefined>(
    () => (code && language !== undefined ? (pieces) => code.colourPieces(pieces, language) : undefined),
    [code, language],
  )
  const lines = linesOf(diff)
  const shown = isOpen ? lines.length : `${diff}\n`.slice(0, LONG_DIFF_CHARS).split('\n').length - 1
  const hidden = lines.length - shown
  // The card draws all of itself again once the part for what is folded is there.
  const Find = diff.length > LONG_DIFF_CHARS ? FOLDED.get().module?.Find : undefined
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
        {Find && isUnfolded ? <Find text={diff} box={box} isOpen={hidden === 0} onOpen={open} /> : null}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre ref={box} tabIndex={0} data-language={colour && language} data-part={hidden > 0 ? undefined : path}>
          <Lines diff={diff} shown={shown} colour={colour} />
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
  return texts.map((text, at) => ({
    text,
    mark: at > first ? MARKS[text.charAt(0)] : undefined,
    isCode: at > first && /^[ +-]/.test(text),
  }))
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

/** Drawn once: a card draws itself every few seconds, and to compare words takes a while. */
const Lines = memo(function Lines({ diff, shown, colour }: { diff: string; shown: number; colour: Colour | undefined }) {
  return blocksOf(linesOf(diff).slice(0, shown)).map(({ isChange, lines }, at) =>
    isChange ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one diff are never reordered
      <span key={at} className="cs-hunk">
        {drawLines(lines, colour)}
      </span>
    ) : (
      drawLines(lines, colour)
    ),
  )
})

function drawLines(lines: readonly Line[], colour: Colour = (pieces) => pieces) {
  const marked = markChange(lines)
  return lines.map((line, at) => {
    const Mark = line.mark ?? 'span'
    const pieces = marked.get(line) ?? piecesOf(line.text)
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one diff are never reordered
      <Mark key={at} className="cs-diff-line">
        <Pieces pieces={line.isCode ? colour(pieces) : pieces} />
        {'\n'}
      </Mark>
    )
  })
}

/** The words that changed inside the lines of one change: its first removed line is compared with its first added one, and so on. */
function markChange(lines: readonly Line[]): ReadonlyMap<Line, Piece[]> {
  const added = lines.filter(({ mark }) => mark === 'ins')
  const marked = new Map<Line, Piece[]>()
  for (const [at, line] of lines.filter(({ mark }) => mark === 'del').entries()) {
    const other = added[at]
    const words = other && markWords(line.text.slice(1), other.text.slice(1))
    if (other === undefined || words === undefined) continue
    marked.set(line, [signOf(line), ...words[0]])
    marked.set(other, [signOf(other), ...words[1]])
  }
  return marked
}

const signOf = ({ text }: Line): Piece => ({ text: text.charAt(0), isChanged: false, isSpace: false })
