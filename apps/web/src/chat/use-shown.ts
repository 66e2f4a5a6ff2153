import type { SessionSnapshot, ShownAction } from '@countersign/client'
import { useCallback, useEffect, useRef } from 'react'

/**
 * The waiting actions that the page shows, and for how long: a typed word is checked against them. An action counts from when this revision
 * of it appeared, and again from when the person came back to the window.
 */
export function useShown({ actions, pendingApprovals }: Pick<SessionSnapshot, 'actions' | 'pendingApprovals'>): () => ShownAction[] {
  const since = useRef(new Map<string, number>())
  const cards = useRef<Omit<ShownAction, 'forMs'>[]>([])

  useEffect(() => {
    cards.current = pendingApprovals.flatMap((id) => {
      const action = actions[id]
      return action ? [{ actionId: id, revision: action.revision, digest: action.digest }] : []
    })
    const keys = cards.current.map(keyOf)
    const before = since.current
    since.current = new Map(keys.map((key) => [key, before.get(key) ?? performance.now()]))
  }, [actions, pendingApprovals])

  useEffect(() => {
    const onReturn = () => {
      if (document.visibilityState !== 'visible') return
      for (const key of since.current.keys()) since.current.set(key, performance.now())
    }
    addEventListener('focus', onReturn)
    document.addEventListener('visibilitychange', onReturn)
    return () => {
      removeEventListener('focus', onReturn)
      document.removeEventListener('visibilitychange', onReturn)
    }
  }, [])

  return useCallback(() => {
    const now = performance.now()
    return cards.current.slice(0, MAX_SHOWN).map((card) => ({ ...card, forMs: Math.floor(now - (since.current.get(keyOf(card)) ?? now)) }))
  }, [])
}

/** The maximum that the server accepts with one message. */
const MAX_SHOWN = 200

const keyOf = ({ actionId, revision, digest }: Omit<ShownAction, 'forMs'>): string => `${actionId} ${revision} ${digest}`
