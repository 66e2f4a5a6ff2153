import { showInvisible } from '@countersign/core/text'
import { fitsGlob } from '@countersign/toolkit/internal'

/** A path inside a workspace, parsed from model input: its segments, or the reason in words why it is invalid. */
export type ReadPath = { segments: readonly string[]; text: string } | { problem: string }

const MAX_PATH_CHARS = 1_000
const MAX_SEGMENT_BYTES = 255
/** Reserved device names on Windows, with any extension: writing there writes to a device. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i
/** Characters that some file systems ignore when they compare names. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

/**
 * Parses a path with `/` between its segments, from the root of the workspace: `src/index.ts`. `''` and `.` are the root itself. A path
 * that could lead outside, into `.git` or to a device, or could be another name on another file system, is invalid.
 */
export function readPath(text: string): ReadPath {
  const named = showInvisible(text)
  const bad = (why: string): ReadPath => ({ problem: `${named === '' ? 'The path' : named} ${why}` })
  if (text.length > MAX_PATH_CHARS) return { problem: `The path has more than ${MAX_PATH_CHARS} characters.` }
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) return bad('has control characters, which no file here may have in its name.')
  if (text.includes('\\')) return bad('has a backslash: write / between folders.')
  if (text.startsWith('/') || /^[a-z]:/i.test(text)) return bad('is an absolute path: write it from the root of the workspace.')
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.')
  for (const segment of segments) {
    const why = whyNot(segment)
    if (why !== undefined) return bad(why)
  }
  return { segments, text: segments.join('/') }
}

function whyNot(segment: string): string | undefined {
  if (segment === '..') return 'leads outside the workspace.'
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return 'has a name that is too long.'
  if (isGitName(segment)) return 'belongs to git: no tool reads or writes there.'
  if (DEVICE.test(segment)) return 'is the name of a device on Windows.'
  if (/[. ]$/.test(segment)) return 'has a name that ends with a dot or a space, which Windows leaves out.'
  return undefined
}

/** Returns the same form for all spellings that a file system may treat as one name. */
export const foldName = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replace(IGNORABLE, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')

/** True for every spelling that a file system may treat as `.git`, and for the file that configures submodules. */
export function isGitName(segment: string): boolean {
  const name = foldName(segment)
  return name === '.git' || name === '.gitmodules' || /^git(?:mod)?~\d+$/.test(name) || /^gi7[0-9a-f]{0,4}~\d+$/.test(name)
}

/** The segments of a pattern as those of a path are: `./private/` is `private`. */
const segmentsOf = (glob: string): string[] => glob.split('/').filter((segment) => segment !== '' && segment !== '.')

/** True for a pattern that can fit no path below the root: it begins elsewhere, leads outside or names nothing. */
export const fitsNothing = (glob: string): boolean =>
  glob.startsWith('/') || /^[a-z]:/i.test(glob) || segmentsOf(glob).length === 0 || segmentsOf(glob).includes('..')

/** Returns a function that tests whether a path, or one of its parent folders, is ignored by the workspace. */
export function openIgnore(given: readonly string[]): (text: string) => boolean {
  const globs = given.map((glob) => segmentsOf(glob).join('/'))
  return (text) => {
    const segments = text.split('/')
    return segments.some((_, at) => {
      const path = segments.slice(0, at + 1).join('/')
      return globs.some((glob) => fitsGlob(path, glob))
    })
  }
}
