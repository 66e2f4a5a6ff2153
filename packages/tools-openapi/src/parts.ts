import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { htmlText } from './html-text.ts'

/** A part of a document that cannot be used. `message` is plain words that follow the name of the operation. */
export class BrokenPart extends Error {
  override readonly name = 'BrokenPart'
}

/** Returns a part that has to be an object. @throws BrokenPart naming the place. */
export function objectAt(value: JsonValue | undefined, place: string): JsonObject {
  if (isObject(value)) return value
  throw new BrokenPart(`has no object at ${place}`)
}

export const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

const MAX_LINE_CHARACTERS = 200

/** Returns a description from the document, which may be HTML, as one line. */
export const proseLine = (text: string, maxCharacters = MAX_LINE_CHARACTERS): string => oneLine(htmlText(text), maxCharacters)

/** Returns a text from the document as one line, for a card or a list. */
export function oneLine(text: string, maxCharacters = MAX_LINE_CHARACTERS): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '')
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1).toWellFormed()}…` : line
}
