import type { Machine } from '../../store/index.ts'

/** A process whose row is gone may only have lost its connection: it is told of everything for this long. */
const MISSED_MS = 60_000

/**
 * Whether other processes use the database. A process that is alone announces nothing: a NOTIFY after each commit was a sixth of its
 * packets. Another process is noticed by its own announcement, or at the next sign of life, by its row.
 */
export interface Peers {
  /** True until the database has said that there is no other process. */
  readonly mayExist: boolean
  /**
   * Begins a look at the rows of the processes. Call the result with whether there is another one. A notice that arrived meanwhile takes
   * precedence: the rows may have been read before the other process added its own.
   */
  look(): (isThere: boolean) => void
  /** Records that another process announced something. */
  hear(): void
  /** Records that announcements may have been missed. */
  miss(): void
  /** Calls `listener` when another process appears: nothing was announced to it so far. */
  onAppear(listener: () => void): void
}

export function createPeers({ steadyMs }: Pick<Machine, 'steadyMs'>): Peers {
  const listeners: (() => void)[] = []
  let mayExist = true
  let news = 0
  let seenAt = Number.NEGATIVE_INFINITY

  function set(isThere: boolean): void {
    const hasAppeared = isThere && !mayExist
    mayExist = isThere
    if (hasAppeared) for (const listener of listeners) listener()
  }

  return {
    get mayExist() {
      return mayExist
    },
    look() {
      const before = news
      return (isThere) => {
        if (isThere) seenAt = steadyMs()
        set(isThere || news > before || steadyMs() - seenAt < MISSED_MS)
      }
    },
    hear() {
      news++
      seenAt = steadyMs()
      set(true)
    },
    miss() {
      news++
      set(true)
    },
    onAppear: (listener) => void listeners.push(listener),
  }
}
