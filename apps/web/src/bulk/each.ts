import { type Action, isApiError } from '@countersign/client'
import { STATE_WORDS } from '@countersign/react'
import { errorText, isUnanswered } from '../errors.ts'
import { needsPerson } from '../waiting/views.ts'
import type { Refused } from './send.ts'

/** Requests under way at a time. */
const WORKERS = 8

export const NO_ANSWER = 'No answer came: it may be done all the same.'

type EachOptions = {
  /** Stops what has not been answered yet. */
  signal: AbortSignal
  onProgress: (done: number) => void
  /** Returns a better text than the server's for an error; undefined to use the server's. */
  whyNot?: (error: unknown) => string | undefined
}

/**
 * Changes each action by a request of its own, and returns those that changed and those that did not, with the reasons. Once the server
 * cannot be reached nothing more is sent.
 */
export async function changeEach<Item extends { action: Action }>(
  items: readonly Item[],
  change: (item: Item, options: { signal: AbortSignal }) => Promise<unknown>,
  { signal, onProgress, whyNot }: EachOptions,
): Promise<{ went: Action[]; not: Refused[] }> {
  /** Why each did not change; undefined for those that did. */
  const reasons = new Map<Item, string | undefined>()
  const left = items.values()
  let ended: string | undefined
  const worker = async () => {
    for (const item of left) {
      const why = signal.aborted ? 'It was stopped before this one was sent.' : ended
      reasons.set(item, why ?? (await whyNotChanged(item)))
      onProgress(reasons.size)
    }
  }
  async function whyNotChanged(item: Item): Promise<string | undefined> {
    try {
      await change(item, { signal })
      return undefined
    } catch (error) {
      const isAway = isUnanswered(error)
      if (isAway) ended = errorText(error)
      return isAway || signal.aborted ? NO_ANSWER : (whyNot?.(error) ?? whyOf(error))
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  const went: Action[] = []
  const not: Refused[] = []
  for (const item of items) {
    const why = reasons.get(item)
    if (why === undefined) went.push(item.action)
    else not.push({ action: item.action, why })
  }
  return { went, not }
}

/** The server names the action by its id, which nobody at a screen knows. */
function whyOf(error: unknown): string {
  const now = isApiError(error) ? error.action : undefined
  return now && !needsPerson(now) ? `It does not wait any more: ${STATE_WORDS[now.state].word.toLowerCase()}.` : errorText(error)
}
