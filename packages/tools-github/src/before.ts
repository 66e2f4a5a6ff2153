import { ToolError } from '@countersign/core'

/**
 * What a write does before it changes anything that people see: reads, and objects of git that nothing leads to yet. When that fails,
 * nothing was done, whatever became of the request, and it may be tried again.
 */
export async function before<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ToolError) || error.kind !== 'ambiguous') throw error
    const said = error.message.replace(' Whether it acted is not known.', '')
    throw new ToolError('refused', `${said} Nothing was changed.`, { retryable: true, cause: error })
  }
}

/** Runs at most `most` at a time; results in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length)
  const rest = items.entries()
  const lane = async () => {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane))
  return results
}
