import { type Action, type JsonValue, withoutMedia } from '@countersign/core'

/** A longer result is sent as its text, which is not longer than this either. */
const MOST_CHARACTERS = 20_000

/**
 * The room of all results of one message. A page sends a message back with its approval, and a request ends at 512 KB and 20,000 values
 * (`json-body.ts`): texts, arguments and approvals have the rest.
 */
const MOST_BYTES = 200 * 1024
const MOST_VALUES = 8_000

/** A text without room is cut to this. */
const LITTLE = 500

/** The results of one message, each to be called once for each action, in order. */
export interface ResultRoom {
  /** The result of an action: media by type and size, and as a text where it is long or the results before it have the room. */
  outputOf(action: Action): JsonValue
  /** Why an action did not succeed. */
  errorOf(action: Action): string
}

export function createResultRoom(): ResultRoom {
  let bytes = 0
  let values = 0

  /** Takes the room of a value; false where there is not enough. */
  function take(value: JsonValue): boolean {
    let count = 0
    const text = JSON.stringify(value, (_key, member: unknown) => {
      count++
      return member
    })
    const size = Buffer.byteLength(text)
    if (bytes + size > MOST_BYTES || values + count > MOST_VALUES) return false
    bytes += size
    values += count
    return true
  }

  const fitted = (text: string): string =>
    take(text) ? text : `${text.slice(0, LITTLE).toWellFormed()} … (shortened; the whole is in the result)`

  return {
    outputOf({ result = null, outcome }) {
      const value = withoutMedia(result)
      const isLong = JSON.stringify(value).length > MOST_CHARACTERS
      return !isLong && take(value) ? value : fitted(outcome?.text ?? '')
    },
    errorOf: ({ outcome, error }) => fitted(outcome?.text ?? error?.message ?? 'This did not succeed.'),
  }
}
