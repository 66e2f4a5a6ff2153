/** Every lane takes the next ones from the same iterator. */
export async function inLanes<T>(lanes: number, items: IterableIterator<T>, work: (item: T) => Promise<void>): Promise<void> {
  const lane = async () => {
    for (const item of items) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
