export type DiffLine = { kind: 'same' | 'removed' | 'added'; text: string }

/**
 * Compares `before` and `after` line by line, by their longest common subsequence.
 * @example
 * diffLines('a\nb', 'a\nc') // [same a, removed b, added c]
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  // lengths[i][j]: of the longest common part of a from i on and b from j on.
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' })
      i++
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push({ kind: 'removed', text: a[i++] ?? '' })
    else lines.push({ kind: 'added', text: b[j++] ?? '' })
  }
  return lines
}

const CONTEXT_LINES = 2

/** Returns the changed lines with some context, and null where lines are omitted. */
export function aroundChanges(lines: readonly DiffLine[]): (DiffLine | null)[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, at) => (isNear[at] ? [line] : isNear[at - 1] ? [null] : []))
}
