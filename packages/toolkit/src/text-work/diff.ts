import { structuredPatch } from 'diff'

/** A file before or after; undefined when it does not exist. */
export interface DiffSide {
  text: string
  mode?: number
}

/** Two texts further apart than this are shown as one taken out and the other put in: finding the shortest diff takes its square. */
const MAX_EDITS = 2_000
const CONTEXT_LINES = 3
const NO_NEWLINE = '\\ No newline at end of file'

/**
 * The change of one file as a unified diff: applied to the bytes before (`git apply`, `patch`), it gives the bytes after.
 * @returns An empty text where nothing changes.
 */
export const unifiedDiff = (path: string, before: DiffSide | undefined, after: DiffSide | undefined): string =>
  diffWith(hunksOf, path, before, after)

/** The same change as everything out, everything in: the diff that takes no time to find. */
export const wholeDiff = (path: string, before: DiffSide | undefined, after: DiffSide | undefined): string =>
  diffWith(replaced, path, before, after)

function diffWith(find: typeof hunksOf, path: string, before: DiffSide | undefined, after: DiffSide | undefined): string {
  if (before && after && before.text === after.text) return ''
  const hunks = find(before?.text ?? '', after?.text ?? '')
  const [a, b] = [quoted(`a/${path}`), quoted(`b/${path}`)]
  const head: string[] = []
  if (!before || !after) {
    const mode = `100${((before ?? after)?.mode ?? 0o644) & 0o111 ? '755' : '644'}`
    head.push(`diff --git ${a} ${b}`, `${before ? 'deleted' : 'new'} file mode ${mode}`)
  }
  if (hunks.length === 0) return `${head.join('\n')}\n`
  head.push(`--- ${before ? named(a) : '/dev/null'}`, `+++ ${after ? named(b) : '/dev/null'}`)
  return `${[...head, ...hunks].join('\n')}\n`
}

function hunksOf(before: string, after: string): string[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES, maxEditLength: MAX_EDITS })
  if (!patch) return replaced(before, after)
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ])
}

/** An empty range is named by the line before it. */
const range = (start: number, lines: number): string =>
  lines === 1 ? `${start}` : `${lines === 0 ? Math.max(start - 1, 0) : start},${lines}`

/** Everything out, everything in. */
function replaced(before: string, after: string): string[] {
  const [old, now] = [linesWithEnds(before), linesWithEnds(after)]
  const marked = (sign: string, lines: readonly string[]) =>
    lines.flatMap((line) => (line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, NO_NEWLINE]))
  return [
    `@@ -${range(old.length === 0 ? 0 : 1, old.length)} +${range(now.length === 0 ? 0 : 1, now.length)} @@`,
    ...marked('-', old),
    ...marked('+', now),
  ]
}

/** Returns the lines of a text, each with its end, if it has one. */
export const linesWithEnds = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** A name with a space in it ends with a tab, as git writes it. */
const named = (name: string): string => (name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name)

/** As git writes names that would otherwise be read wrongly. */
const quoted = (name: string): string => (/["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name)
