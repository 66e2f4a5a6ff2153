/** Yields the lines of a text that arrives in pieces, without their ends. An empty last line is left out. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

/** A text is not what {@link exactLinesOf} reads. */
export class LineError extends Error {
  override readonly name = 'LineError'
}

/**
 * Yields the same lines of a text of which no byte may differ.
 * @throws LineError for bytes that are no UTF-8, and for a last line without its end.
 */
export async function* exactLinesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch (cause) {
      throw new LineError('there are bytes that are no UTF-8', { cause })
    }
  }
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decode(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest + decode() !== '') throw new LineError('the last line has no end: the file was cut')
}
