/** Returns the result of some work, and how often other work got its turn meanwhile. */
export async function withTurns<Result>(work: () => Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0
  let next = setImmediate(count)
  function count(): void {
    turns++
    next = setImmediate(count)
  }
  try {
    const result = await work()
    return { result, turns }
  } finally {
    clearImmediate(next)
  }
}
