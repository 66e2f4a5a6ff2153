import { posix } from 'node:path'

/** A character for private use, which means nothing in a glob. */
const DOT = '\uE000'
const withoutDots = (text: string): string => text.replaceAll('.', DOT)

/**
 * True for a path with `/` that fits the glob. A name that begins with a dot is a name like any other here: `matchesGlob` of Node.js lets no
 * wildcard stand for its dot, and has no option for that, so the dots of both are hidden from it. It is asked as they are, too, for what dots
 * mean in a glob: `{1..3}`.
 */
export const fitsGlob = (path: string, glob: string): boolean =>
  posix.matchesGlob(path, glob) || (/(^|\/)\./.test(path) && posix.matchesGlob(withoutDots(path), withoutDots(glob)))
