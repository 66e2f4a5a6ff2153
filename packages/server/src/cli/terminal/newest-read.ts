/**
 * Returns a function that reads and shows. Of reads that overlap, the answer of one that began earlier is not shown after that of a later one:
 * it would bring back what has been decided since.
 */
export function newestRead<T>(read: () => Promise<T>, show: (value: T) => void): () => Promise<void> {
  let begun = 0
  let shown = 0
  return async () => {
    const number = ++begun
    const value = await read()
    if (number < shown) return
    shown = number
    show(value)
  }
}
