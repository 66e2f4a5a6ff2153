import type { Code, Piece } from './mark-words.ts'

/** Draws the pieces of a line: what changed inside it stands out, and so do tabs and the spaces at its end. */
export const Pieces = ({ pieces }: { pieces: readonly Piece[] }) =>
  pieces.map(({ text, isChanged, isSpace, alike, code }, at) => {
    const Element = isChanged ? 'mark' : 'span'
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one line are never reordered
      <Element key={at} className={isSpace ? 'cs-space' : undefined}>
        {code ? <Coloured code={code} /> : text}
        {alike === undefined ? null : <strong className="cs-alike">⟦{alike}⟧</strong>}
      </Element>
    )
  })

const Coloured = ({ code }: { code: readonly Code[] }) =>
  code.map(({ text, colour }, at) =>
    colour === undefined ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of one line are never reordered
      <span key={at} data-code={colour}>
        {text}
      </span>
    ),
  )
