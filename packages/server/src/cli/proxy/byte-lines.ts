const LINE_FEED = 0x0a

/** The lines of a stream as they came, byte for byte, with their line feeds. The last one may have none. */
export async function* byteLines(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Parts of a line that is not whole yet: they are put together once, however many there are.
  let parts: Buffer[] = []
  for await (const chunk of stream) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end + 1)])
      parts = []
      from = end + 1
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
  }
  if (parts.length > 0) yield Buffer.concat(parts)
}
