import bash from '@speed-highlight/core/languages/bash.js'
import c from '@speed-highlight/core/languages/c.js'
import css from '@speed-highlight/core/languages/css.js'
import docker from '@speed-highlight/core/languages/docker.js'
import go from '@speed-highlight/core/languages/go.js'
import html from '@speed-highlight/core/languages/html.js'
import ini from '@speed-highlight/core/languages/ini.js'
import java from '@speed-highlight/core/languages/java.js'
import js from '@speed-highlight/core/languages/js.js'
import json from '@speed-highlight/core/languages/json.js'
import py from '@speed-highlight/core/languages/py.js'
import rs from '@speed-highlight/core/languages/rs.js'
import sql from '@speed-highlight/core/languages/sql.js'
import toml from '@speed-highlight/core/languages/toml.js'
import ts from '@speed-highlight/core/languages/ts.js'
import xml from '@speed-highlight/core/languages/xml.js'
import yaml from '@speed-highlight/core/languages/yaml.js'
import { type ShjLanguageData, type ShjToken, tokenizeWith } from '@speed-highlight/core/tokenize'
import type { Code, Piece } from './mark-words.ts'

const LANGUAGES: Readonly<Record<string, ShjLanguageData>> = {
  bash,
  c,
  css,
  docker,
  go,
  html,
  ini,
  java,
  js,
  json,
  py,
  rs,
  sql,
  toml,
  ts,
  xml,
  yaml,
}

/** The colours of card.css, by what the library finds. */
const COLOURS: Readonly<Partial<Record<ShjToken, NonNullable<Code['colour']>>>> = {
  kwd: 'word',
  str: 'string',
  num: 'number',
  bool: 'number',
  cmnt: 'comment',
  func: 'name',
  class: 'name',
  type: 'name',
  var: 'name',
}

/** Longer lines are no code that people read. It bounds the time as well: the library's patterns may look at a line once for each letter. */
const MAX_CHARS = 300

/**
 * The pieces of one line of a diff, with the colours of its code. The text stays the same, letter by letter. A line is read by itself:
 * what began on an earlier one, such as a comment, is not known, because a diff does not have all lines.
 * @param pieces The first letter is the sign of the line.
 */
export function colourPieces(pieces: readonly Piece[], language: string): readonly Piece[] {
  const text = pieces.map((piece) => piece.text).join('')
  const grammar = LANGUAGES[language]
  if (grammar === undefined || text.length > MAX_CHARS) return pieces
  const tokens: { end: number; colour: Code['colour'] }[] = [{ end: 1, colour: undefined }]
  let end = 1
  tokenizeWith(
    text.slice(1),
    grammar,
    (token, type) => {
      end += token.length
      tokens.push({ end, colour: type && COLOURS[type] })
    },
    { languages: LANGUAGES },
  )
  return cut(pieces, tokens)
}

/** Cuts the text of each piece at the ends of tokens. Text after the last token has no colour. */
function cut(pieces: readonly Piece[], tokens: readonly { end: number; colour: Code['colour'] }[]): Piece[] {
  let [start, token] = [0, 0]
  return pieces.map((piece) => {
    const end = start + piece.text.length
    const code: Code[] = []
    for (let at = start; at < end; ) {
      while (token < tokens.length && (tokens[token]?.end ?? 0) <= at) token++
      const { end: tokenEnd, colour } = tokens[token] ?? { end, colour: undefined }
      const cutAt = Math.min(end, tokenEnd)
      // The library may cut a character in two that has two code units.
      const to = cutAt < end && /[\udc00-\udfff]/.test(piece.text.charAt(cutAt - start)) ? cutAt + 1 : cutAt
      code.push({ text: piece.text.slice(at - start, to - start), colour })
      at = to
    }
    start = end
    return { ...piece, code }
  })
}
