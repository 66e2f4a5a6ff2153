/** Below this the engine's own search is fast whatever the texts are. */
const SHORT = 16

/**
 * Returns the position of `wanted` in `text` from `from` on, like `text.indexOf`, or -1. Takes linear time: the engine's own search takes the
 * product of both lengths for repetitive texts (43 s for 1 MB), and its thread cannot be ended meanwhile.
 */
export function findText(text: string, wanted: string, from = 0): number {
  if (wanted.length < SHORT) return text.indexOf(wanted, from)
  // Knuth, Morris, Pratt: how much of what fits so far is a beginning of `wanted` again.
  const borders = bordersOf(wanted)
  let fits = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (fits > 0 && wanted.charCodeAt(fits) !== unit) fits = borders[fits - 1] ?? 0
    if (wanted.charCodeAt(fits) === unit) fits++
    if (fits === wanted.length) return at - fits + 1
  }
  return -1
}

function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length)
  let length = 0
  for (let at = 1; at < wanted.length; at++) {
    const unit = wanted.charCodeAt(at)
    while (length > 0 && wanted.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0
    if (wanted.charCodeAt(length) === unit) length++
    borders[at] = length
  }
  return borders
}
