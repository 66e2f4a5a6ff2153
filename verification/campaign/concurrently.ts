/** Works on the items, `limit` of them at the same time. */
export async function concurrently<T>(limit: number, items: IterableIterator<T>, work: (item: T) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (const item of items) await work(item)
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
