import type { Action, SnoozeBody } from '@countersign/client'
import { snoozeTimes } from '@countersign/core/text'
import { type Split, splitBy } from './split.ts'

/** One time, and the actions that can be snoozed until then. */
export type SnoozeChoice = Split<{ action: Action; body: SnoozeBody }> & {
  words: string
  /** When all of them return; undefined where each has a time of its own. */
  atMs: number | undefined
}

const NO_DEADLINE = { state: 'proposed', expiresAt: null } as const
export const TOO_SOON = 'It expires too soon for that.'

/** The times that at least one of the actions can be snoozed for: those of a single action, each with what it leaves out. */
export function snoozeChoices(actions: readonly Action[], nowMs: number): SnoozeChoice[] {
  const times = new Map(actions.map((action) => [action.id, snoozeTimes(action, nowMs)]))
  const spans = snoozeTimes(NO_DEADLINE, nowMs).map(({ words, atMs }) => ({
    words,
    atMs,
    ...splitBy(actions, (action) => {
      const time = times.get(action.id)?.find((one) => one.words === words)
      return time ? { action, body: time.body } : TOO_SOON
    }),
  }))
  const each = splitBy(actions, (action) => {
    const time = times.get(action.id)?.find(({ body }) => 'until' in body)
    if (time) return { action, body: time.body }
    return action.state === 'proposed' && action.expiresAt !== null ? TOO_SOON : 'It does not expire.'
  })
  return [...spans, { words: 'Until 5 minutes before each expires', atMs: undefined, ...each }].filter(({ going }) => going.length > 0)
}
