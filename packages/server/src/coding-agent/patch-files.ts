import { isSensitive } from './sensitive-names.ts'
import { isOutside } from './shell/read-command.ts'

/** Blanks of Unicode that end no line. Codex takes U+0085 away as well, opencode U+FEFF. */
const BLANK = String.raw`\t\v\f \u0085\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff`
const ENDS_LINE = String.raw`\r\u2028\u2029`

/**
 * A line of a patch that names a file, and the rest of the line. Programs that apply patches forgive blanks, so a hidden one would change a
 * file that nobody sees. They end a line at a line feed only, so the path goes on behind what ends a line elsewhere.
 */
const NAMES_FILE = new RegExp(
  `^[${BLANK}]*\\*\\*\\*[${BLANK}]*(?:(?:Add|Update|Delete)[${BLANK}]+File|Move[${BLANK}]+to)[${BLANK}]*:([^\\n]+)`,
  'gim',
)
/** The lookbehind keeps this linear in the length of the text. */
const AROUND = new RegExp(`^[${BLANK}${ENDS_LINE}]+|(?<![${BLANK}${ENDS_LINE}])[${BLANK}${ENDS_LINE}]+$`, 'g')

/**
 * Returns the files that a patch names, and whether one is outside of the folder or usually holds secrets. Both are true for a path with
 * control characters, which programs read in different ways.
 */
export function readPatch(patch: string, folder: string): { files: string[]; outside: boolean; sensitive: boolean } {
  const named = [...patch.matchAll(NAMES_FILE)].map(([, rest = '']) => rest)
  const files = named.map((rest) => rest.replace(AROUND, ''))
  const isUnclear = files.some((path) => /[\p{Cc}\u2028\u2029]/u.test(path))
  // Codex takes one space away from the beginning of a path: further blanks are the name of a folder.
  const places = [...files, ...named.map((rest) => rest.replace(/^ /, ''))]
  return {
    files,
    outside: isUnclear || places.some((path) => isOutside(path, folder)),
    sensitive: isUnclear || files.some(isSensitive),
  }
}
