import { showInvisible, splitLines, tellApart } from '@countersign/core/text'
import { diffArrays } from 'diff'

/**
 * A piece of a line as it is shown. `alike` says how a new piece differs from the old one that looks the same; `code` has its
 * text, cut where the colours of code change.
 */
export type Piece = {
  text: string
  isChanged: boolean
  isSpace: boolean
  alike?: string | undefined
  code?: readonly Code[]
}

export type Code = { text: string; colour: 'word' | 'string' | 'number' | 'comment' | 'name' | undefined }

/**
 * Tabs, which stay tabs in copied text, and the spaces at the end of a line, but for the first of a line of spaces. They begin where a row of
 * spaces does: from each space of a row that ends before the line does, all the others would be read again.
 */
const SPACES = /(\t+|(?<=.)(?<!. ) +$)/
/** A word with the marks inside and behind it, spaces, or one other character. */
const TOKEN = /(?:[\p{L}\p{N}\p{M}_]|⟦[^⟦⟧]*⟧)+|\s+|./gsu
/** Lines further apart than this many words are marked as a whole. It bounds the time as well: 500 KB in one line take 0.2 s. */
const MAX_WORDS = 400

/** A word of a line as it is shown, or spaces in it. */
type Token = { text: string; isSpace: boolean }

const tokensOf = (text: string): Token[] =>
  splitLines(text).flatMap((line, row) => (row % 2 ? [{ text: line, isSpace: false }] : tokensOfLine(line)))

const tokensOfLine = (line: string): Token[] =>
  line.split(SPACES).flatMap((piece, at) => {
    const texts = at % 2 ? [piece] : (showInvisible(piece).match(TOKEN) ?? [])
    return texts.map((text) => ({ text, isSpace: at % 2 === 1 }))
  })

/** The pieces of one line, none of them marked as changed. */
export const piecesOf = (line: string): Piece[] => joinTokens(tokensOf(line), false)

/**
 * Which words differ between two versions of a line; undefined where that would say less than a mark on the whole line: most of it
 * differs, or it has brackets of its own that could be taken for the card's marks.
 * Words are compared as they are shown, so that no mark is cut in two.
 */
export function markWords(before: string, after: string): [Piece[], Piece[]] | undefined {
  if (/[⟦⟧]/.test(before + after)) return undefined
  const changes = diffArrays(tokensOf(before), tokensOf(after), {
    maxEditLength: MAX_WORDS,
    comparator: (one, other) => one.text === other.text && one.isSpace === other.isSpace,
  })
  if (changes === undefined) return undefined
  const sides: [Piece[], Piece[]] = [[], []]
  let commonChars = 0
  let was = ''
  for (const { value, removed, added } of changes) {
    const text = value.map((token) => token.text).join('')
    const pieces = joinTokens(value, removed || added)
    if (!removed && !added) commonChars += text.trim().length
    if (!added) sides[0].push(...pieces)
    if (!removed) sides[1].push(...pieces)
    const last = sides[1].at(-1)
    if (added && was !== '' && last) last.alike = tellApart(was, text)
    was = removed ? text : ''
  }
  const isMostlyOther = commonChars * 3 < Math.max(before.trim().length, after.trim().length)
  return isMostlyOther || !sides.flat().some(({ isChanged }) => isChanged) ? undefined : sides
}

function joinTokens(tokens: readonly Token[], isChanged: boolean): Piece[] {
  const pieces: Piece[] = []
  for (const { text, isSpace } of tokens) {
    const last = pieces.at(-1)
    if (last && last.isSpace === isSpace) last.text += text
    else pieces.push({ text, isSpace, isChanged })
  }
  return pieces
}
