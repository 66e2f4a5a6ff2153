import { EvaluationError } from '@marcbachmann/cel-js'
import { z } from 'zod'

/** CEL knows decimal digits with a sign. JavaScript takes an empty text for 0, and `0b11` for 3. */
const isNoInteger = (text: string): boolean => /^(?:$|0[box])/i.test(text)

const NUMBER = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)$/i
/** `NaN` is refused although CEL has it: every comparison with it is false, so a rule that asks above an amount would not match. */
const isNoDouble = (text: string): boolean => !NUMBER.test(text) && (!Number.isNaN(Number(text)) || text.toLowerCase() === 'nan')

const TIME = z.iso.datetime({ offset: true })
const MAX_TIME_CHARACTERS = 30
/** CEL knows RFC 3339. JavaScript takes other dates, too, in the time zone of the server, and March 2 for February 30. */
const isNoTime = (text: string): boolean =>
  text.length <= MAX_TIME_CHARACTERS && !Number.isNaN(Date.parse(text)) && !TIME.safeParse(text).success

const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/
/** The only characters of the texts that the library reads as a duration. */
const DURATION_CHARACTERS = /^[+-]?[\d.nuµmsh]+$/
const MAX_DURATION_CHARACTERS = 100
/** The library takes a unit without digits for none of it, and searches a long row of digits without a unit for minutes. */
const isNoDuration = (text: string): boolean =>
  text.length > MAX_DURATION_CHARACTERS || (DURATION_CHARACTERS.test(text) && !DURATION.test(text))

/**
 * Functions, by the name of the conversion, that refuse a text which the conversion must not take. The library reads texts as JavaScript does,
 * so a rule that allows small amounts would allow an amount that was left empty. It refuses all other texts itself, and names their place.
 * Each throws an EvaluationError.
 */
export const CONVERSIONS: ReadonlyMap<string, (value: unknown) => void> = new Map([
  ['int', refuse(isNoInteger, 'int() type error: cannot convert to int')],
  ['double', refuse(isNoDouble, 'double() type error: cannot convert to double')],
  ['duration', refuse(isNoDuration, 'Invalid duration string')],
  ['timestamp', refuse(isNoTime, 'timestamp() requires a string in ISO 8601 format')],
])

function refuse(isWrong: (text: string) => boolean, words: string): (value: unknown) => void {
  return (value) => {
    if (typeof value === 'string' && isWrong(value)) throw new EvaluationError(words)
  }
}
