/** A change to one source file: `find` must stand in it exactly once. */
export interface Patch {
  /** Its place, below the folder that patches of its kind are about. */
  file: string
  find: string
  replace: string
}

/** @throws Error when the patch does not fit the text (any more). */
export function applyPatch(text: string, { file, find, replace }: Patch): string {
  const pieces = text.split(find)
  if (pieces.length !== 2) throw new Error(`the patch of ${file} fits it ${pieces.length - 1} times, not once: ${find}`)
  return pieces.join(replace)
}
