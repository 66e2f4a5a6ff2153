import { useEffect } from 'react'
import { useStoredSwitch } from '../preferences/stored-switch.ts'
import { useServices } from '../services.tsx'

/** True where a service worker can be told by a push service. */
export const isSupported = (): boolean =>
  isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

/** The choice is a person's, in one browser. */
export const switchOf = (personId: string): string => `countersign-push-${personId}`

/** True while this browser is notified through its push service. */
export function useIsPushed(): boolean {
  const { me } = useServices()
  const [isWanted] = useStoredSwitch(switchOf(me.id), false)
  return isWanted && isSupported() && Notification.permission === 'granted'
}

/** Subscribes again with each sign-in: signing out ended the subscription at the server. */
export function useKeepSubscribed(): void {
  const { client } = useServices()
  const isPushed = useIsPushed()
  useEffect(() => {
    // Offline, or without a push service for the moment: the next visit tries again.
    if (isPushed) void import('./subscribe.ts').then(({ subscribe }) => subscribe(client)).catch(() => undefined)
  }, [client, isPushed])
}
