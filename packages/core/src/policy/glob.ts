/** True when `name` fits `glob`; `*` stands for any characters, everything else for itself. */
export function matchesGlob(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*')
  if (rest.length === 0) return glob === name
  if (!name.startsWith(first)) return false
  // Greedy from the left for the inner pieces, the last one anchored at the end: linear, no backtracking to bound.
  const last = rest.pop() ?? ''
  let at = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
