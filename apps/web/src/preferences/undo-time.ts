import { useStoredChoice } from './stored-switch.ts'

/** How long a single approval can be taken back, as the server takes it; `none` starts at once where policy says nothing. */
export const UNDO_TIMES = ['none', 'PT5S', 'PT10S', 'PT30S'] as const
export type UndoTime = (typeof UNDO_TIMES)[number]

export const UNDO_WORDS: Readonly<Record<UndoTime, string>> = { none: 'Off', PT5S: '5 seconds', PT10S: '10 seconds', PT30S: '30 seconds' }

/** Of many approvals at once, where the person set nothing longer. */
const BULK: UndoTime = 'PT5S'

export const useUndoTime = () => useStoredChoice<UndoTime>('countersign-undo', UNDO_TIMES, 'none')

/** The grace period to ask for with an approval; undefined for none. */
export const startAfter = (time: UndoTime): string | undefined => (time === 'none' ? undefined : time)

/** The same with approvals in bulk. */
export const bulkStartAfter = (time: UndoTime): string => startAfter(time) ?? BULK
