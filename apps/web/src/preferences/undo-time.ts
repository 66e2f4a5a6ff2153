import { useStoredPreference } from './stored-preference.ts'

/** How long a single approval can be taken back, as the server takes it; `none` starts at once where policy says nothing. */
export const UNDO_TIMES = ['none', 'PT5S', 'PT10S', 'PT30S'] as const
export type UndoTime = (typeof UNDO_TIMES)[number]

export const UNDO_WORDS: Readonly<Record<UndoTime, string>> = { none: 'Off', PT5S: '5 seconds', PT10S: '10 seconds', PT30S: '30 seconds' }

/** Of many approvals at once, where the person set nothing longer. */
const BULK: UndoTime = 'PT5S'

/** The person's choice, the same in every browser. This one remembers it: an approval right after a start has its time, too. */
export const useUndoTime = () =>
  useStoredPreference<UndoTime>({
    key: 'countersign-undo',
    choices: UNDO_TIMES,
    initially: 'none',
    readFrom: ({ undoTime }) => undoTime ?? 'none',
    toStore: (to) => ({ undoTime: to === 'none' ? null : to }),
  })

/** The grace period to ask for with an approval; undefined for none. */
export const startAfter = (time: UndoTime): string | undefined => (time === 'none' ? undefined : time)

/** The same with approvals in bulk. */
export const bulkStartAfter = (time: UndoTime): string => startAfter(time) ?? BULK
