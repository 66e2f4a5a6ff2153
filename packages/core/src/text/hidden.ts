/** Longer texts are shown by head and tail, and the middle by a button. */
export const LONG_TEXT_CHARS = 600
export const HEAD_CHARS = 240
export const TAIL_CHARS = 120
/** The lines of a diff from here on are shown by a button. */
export const LONG_DIFF_CHARS = 6_000
/** The rows of a preview from here on are shown by a button. */
export const LONG_PREVIEW_ROWS = 100
/** Nobody can approve while more of an action than this has not been shown, whatever its risk. */
export const MAX_HIDDEN_CHARS = 2_000

type PreviewRow = {
  readonly field?: string
  readonly oldValue?: unknown
  readonly newValue?: unknown
  readonly diff?: string
  readonly unverified?: boolean
  readonly ofTool?: boolean
}

/** The rows of a preview that say what would change: without what somebody only says about the call. */
export const changesOf = <Row extends { readonly unverified?: boolean }>(preview: readonly Row[] | null): Row[] =>
  (preview ?? []).filter(({ unverified }) => !unverified)

/** True where a preview says nothing of what the call would change, at most something about its tool: the card then shows the arguments. */
export const lacksChanges = (preview: readonly Pick<PreviewRow, 'unverified' | 'ofTool'>[] | null): boolean =>
  changesOf(preview).every(({ ofTool }) => ofTool)

/** The parts of a card that are collapsed at first. */
export type Hideable = {
  readonly arguments: unknown
  readonly preview: readonly PreviewRow[] | null
  readonly risk: { readonly level: string }
}

/**
 * One text of an action that its card does not show whole at first.
 * @property path `preview/0/new`, `preview/0/old`, `preview/0/diff`, `arguments/body`; `arguments` is everything else among the arguments,
 * and `preview` the rows after the first hundred.
 * @property chars How long it is.
 * @property hiddenChars How many of its characters are not shown at first.
 * @property isFolded It is behind a button of its own. Otherwise it is in a box that scrolls, or behind the disclosure of the arguments.
 */
export type HiddenPart = { path: string; chars: number; hiddenChars: number; isFolded: boolean }

/** A value in one line: strings as they are, unless they are empty or could be taken for a number or a word of JSON, spaces around them left aside. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' && !/^(-?[\d.]+(e[-+]\d+)?|true|false|null|[[{"].*)?$/s.test(value.trim()) ? value : JSON.stringify(value)

/** True where a slip is costly: a second step, and nothing that is folded may stay so. */
export const isHighRisk = ({ risk }: Pick<Hideable, 'risk'>): boolean => risk.level === 'high' || risk.level === 'critical'

/** The subject of a change, which stays as it is: the name of an issue, beside its changed values. */
export const stays = ({ oldValue, newValue }: { oldValue?: unknown; newValue?: unknown }): boolean =>
  oldValue !== undefined && JSON.stringify(oldValue) === JSON.stringify(newValue)

/**
 * The texts of an action that its card does not show whole at first. Below high risk, an argument that the preview shows word for word is
 * not one of them.
 */
export function hiddenParts(action: Hideable): HiddenPart[] {
  const rows = action.preview ?? []
  const parts = rows.flatMap((row, index) => {
    const { oldValue, newValue, diff = '' } = row
    return [
      ...(stays(row) ? [] : folded(`preview/${index}/old`, oldValue)),
      ...folded(`preview/${index}/new`, newValue),
      ...(diff.length > MAX_HIDDEN_CHARS
        ? [
            {
              path: `preview/${index}/diff`,
              chars: diff.length,
              hiddenChars: diff.length - MAX_HIDDEN_CHARS,
              isFolded: diff.length > LONG_DIFF_CHARS,
            },
          ]
        : []),
    ]
  })
  const restChars = rows.slice(LONG_PREVIEW_ROWS).reduce((sum, row) => sum + charsOf(row), 0)
  if (restChars > 0) parts.push({ path: 'preview', chars: restChars, hiddenChars: restChars, isFolded: true })
  const shown = isHighRisk(action) ? () => false : shownIn(changesOf(rows))
  const inArguments: HiddenPart[] = []
  const otherChars = readArguments(action.arguments, { path: 'arguments', depth: 0 }, shown, inArguments)
  // Without a preview the box of the arguments is open: only what one has to scroll to is hidden.
  const hiddenChars = lacksChanges(rows) ? otherChars - MAX_HIDDEN_CHARS : otherChars
  if (hiddenChars > 0) inArguments.push({ path: 'arguments', chars: otherChars, hiddenChars, isFolded: false })
  return [...parts, ...inArguments]
}

/** How many characters of an action its card does not show at first. */
export const hiddenCharacters = (action: Hideable, isRead: (path: string) => boolean = () => false): number =>
  hiddenParts(action).reduce((sum, { path, hiddenChars }) => sum + (isRead(path) ? 0 : hiddenChars), 0)

/**
 * True where a person cannot have seen what they would approve: more than 2,000 characters of the action are hidden; with high and
 * critical risk, any folded text. Cards hold Approve until the parts are read; a decision that comes without a card is refused.
 * @param isRead Which parts the person has opened and seen to their end; default none.
 * @example
 * needsOpening({ arguments: { body: 'x'.repeat(70_000) }, preview: null, risk: { level: 'medium' } }) // true
 */
export const needsOpening = (action: Hideable, isRead: (path: string) => boolean = () => false): boolean =>
  hiddenCharacters(action, isRead) > MAX_HIDDEN_CHARS ||
  (isHighRisk(action) && hiddenParts(action).some(({ path, isFolded }) => isFolded && !isRead(path)))

/** How many characters of a row its card shows while no part of the row is opened. */
const charsOf = ({ field = '', oldValue, newValue, diff = '' }: PreviewRow): number =>
  [oldValue, newValue].reduce<number>(
    (sum, value) => sum + (value === undefined ? 0 : Math.min(valueText(value).length, HEAD_CHARS + TAIL_CHARS)),
    field.length + Math.min(diff.length, MAX_HIDDEN_CHARS),
  )

function folded(path: string, value: unknown): HiddenPart[] {
  const chars = value === undefined ? 0 : valueText(value).length
  return chars > LONG_TEXT_CHARS ? [{ path, chars, hiddenChars: chars - HEAD_CHARS - TAIL_CHARS, isFolded: true }] : []
}

/** The path of a value among the arguments. As in a JSON pointer, so that `{"a/b": …}` and `{"a": {"b": …}}` are two. */
export const childPath = (path: string, key: string): string => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Collects the long values among the arguments. Returns how many characters the rest of the JSON has. */
function readArguments(
  value: unknown,
  at: { path: string; depth: number },
  isShown: (text: string) => boolean,
  parts: HiddenPart[],
): number {
  const { path, depth } = at
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    const keys = Array.isArray(value) ? [] : entries.map(([key]) => JSON.stringify(key).length + 2)
    return entries.reduce(
      (sum, [key, child]) => sum + 2 * depth + 4 + readArguments(child, { path: childPath(path, key), depth: depth + 1 }, isShown, parts),
      keys.reduce((sum, chars) => sum + chars, 2),
    )
  }
  const chars = (JSON.stringify(value) ?? 'null').length
  if (typeof value === 'string' && isShown(value)) return 0
  if (chars <= LONG_TEXT_CHARS) return chars
  parts.push({ path, chars, hiddenChars: chars - HEAD_CHARS - TAIL_CHARS, isFolded: true })
  return 0
}

/** Tells which strings a preview shows word for word: as a new value, or among the lines that a diff adds. */
function shownIn(rows: NonNullable<Hideable['preview']>): (text: string) => boolean {
  const values = new Set(rows.flatMap(({ newValue }) => (typeof newValue === 'string' ? [newValue] : [])))
  const added = rows.flatMap(({ diff }) => (diff ? [`\n${addedLines(diff)}\n`] : []))
  return (text) =>
    values.has(text) || (text.length > LONG_TEXT_CHARS && !text.includes('\0') && added.some((lines) => lines.includes(text)))
}

/** Every run of lines that a diff adds, and between two runs a character that no text contains. */
const addedLines = (diff: string): string =>
  diff
    .split('\n')
    .map((line) => (line.startsWith('+') ? line.slice(1) : '\0'))
    .join('\n')
