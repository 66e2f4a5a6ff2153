import type { Action } from '@countersign/client'
import { RISK_WORDS, showInvisible } from '@countersign/react'
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { useNotifySwitch } from '../preferences/notify.ts'
import { changedSpan } from '../steady/changed-span.ts'

/**
 * Notifies of actions that begin to wait for this person while nobody looks at the page: what would happen and its risk, no arguments. One
 * notification for each action, under the tag of a pushed one, which it replaces. It is withdrawn once the action no longer waits for this person. A press opens its card and decides nothing.
 */
export function useNotifications(actionable: readonly Action[], isLoaded: boolean): void {
  const { isOn } = useNotifySwitch()
  const navigate = useNavigate()
  // Actions that waited when the page was opened are not new.
  const known = useRef<readonly Action[]>(undefined)
  const shown = useRef(new Map<string, Notification>())

  useEffect(() => {
    if (!isLoaded) return
    const { before: left, now: come } = changedSpan(known.current ?? [], actionable)
    const isFirst = known.current === undefined
    known.current = actionable
    const still = new Set(come.map(({ id }) => id))
    for (const { id } of left) {
      if (still.has(id)) continue
      shown.current.get(id)?.close()
      shown.current.delete(id)
    }
    if (!isOn || isFirst || document.visibilityState === 'visible') return
    const before = new Set(left.map(({ id }) => id))
    for (const { id, description, risk } of come) {
      if (before.has(id)) continue
      const notification = notify(showInvisible(description), { body: RISK_WORDS[risk.level], tag: id })
      if (!notification) return
      notification.onclick = () => {
        window.focus()
        navigate(`/actions/${id}`)
        notification.close()
      }
      shown.current.set(id, notification)
    }
  }, [actionable, isLoaded, isOn, navigate])
}

/** Undefined where only a service worker may notify, as in browsers of phones. */
function notify(title: string, options: NotificationOptions): Notification | undefined {
  try {
    return new Notification(title, options)
  } catch {
    return undefined
  }
}
