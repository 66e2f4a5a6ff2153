const STAR = '*'.charCodeAt(0)

/** True when `name` fits `glob`; `*` stands for any characters, everything else for itself. */
export function matchesGlob(glob: string, name: string): boolean {
  let star = glob.indexOf('*')
  if (star < 0) return glob === name
  if (!name.startsWith(glob.slice(0, star))) return false
  // Greedy from the left for the inner pieces, the last one anchored at the end: linear, no backtracking to bound. The pieces are not split
  // first: most names fit none of them, and a policy with many stars is asked about every tool.
  let at = star
  for (;;) {
    let from = star + 1
    while (glob.charCodeAt(from) === STAR) from++
    star = glob.indexOf('*', from)
    if (star < 0) return name.length - (glob.length - from) >= at && name.endsWith(glob.slice(from))
    const found = name.indexOf(glob.slice(from, star), at)
    if (found < 0) return false
    at = found + star - from
  }
}
