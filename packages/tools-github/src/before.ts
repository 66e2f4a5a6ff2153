import { ToolError } from '@countersign/core'

/**
 * Runs a step of a write that comes before any visible change: reads, and git objects that no branch refers to yet. If the step fails,
 * nothing was changed, whatever the outcome of its request, and the write may be retried.
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

/** Runs `work` for each item, at most `most` at a time. Returns the results in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length)
  const rest = items.entries()
  const worker = async () => {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  return results
}
