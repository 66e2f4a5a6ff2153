import type { Page } from '@playwright/test'

/**
 * Makes timers of these lengths, in ms, never end in what is opened from now on. For a time that must not end in the middle of a test, however long
 * the machine stands still: a poll, or the 3 s that a card stays armed.
 */
export const withoutTimers = (page: Page, ...lengths: number[]): Promise<unknown> =>
  page.addInitScript((left) => {
    const { setTimeout: later, setInterval: again } = window
    // A timer that does not exist can be cleared, too.
    const unless =
      (begin: (run: TimerHandler, ms?: number, ...more: unknown[]) => unknown) =>
      (run: TimerHandler, ms?: number, ...more: unknown[]) =>
        left.includes(ms ?? 0) ? 0 : begin(run, ms, ...more)
    Object.assign(window, { setTimeout: unless(later), setInterval: unless(again) })
  }, lengths)
