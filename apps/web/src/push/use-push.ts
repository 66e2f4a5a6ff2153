import type { Client } from '@countersign/client'
import { useEffect, useState } from 'react'
import { useStoredSwitch } from '../preferences/stored-switch.ts'
import { useServices } from '../services.tsx'

const isSupported = (): boolean => isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

const switchOf = (personId: string): string => `countersign-push-${personId}`

/** Whether this browser notifies the person while no page of the console is open. They say so here, and then to the browser. */
export function usePushSwitch() {
  const { client, me } = useServices()
  const [isWanted, setWanted] = useStoredSwitch(switchOf(me.id), false)
  const [failed, setFailed] = useState(false)
  const [given, setGiven] = useState(() => ('Notification' in window ? Notification.permission : 'denied'))

  async function toggle(): Promise<void> {
    setFailed(false)
    if (isWanted) {
      setWanted(false)
      return unsubscribe(client)
    }
    // The browser asks only after a press.
    const answer = given === 'default' ? await Notification.requestPermission() : given
    setGiven(answer)
    if (answer !== 'granted') return
    await subscribe(client)
    setWanted(true)
  }

  return {
    isSupported: isSupported(),
    isBlocked: given === 'denied',
    isOn: isWanted && given === 'granted',
    failed,
    toggle: () => void toggle().catch(() => setFailed(true)),
  }
}

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
    if (isPushed) void subscribe(client).catch(() => undefined)
  }, [client, isPushed])
}

async function subscribe(client: Client): Promise<void> {
  const { publicKey } = await client.pushSubscriptions.list({ limit: 1 })
  await navigator.serviceWorker.register('/service-worker.js', { updateViaCache: 'none' })
  const { pushManager } = await navigator.serviceWorker.ready
  const known = await pushManager.getSubscription()
  // A browser keeps a subscription for one key. The server has another one after its database was replaced.
  if (known && keyOf(known) !== publicKey) await known.unsubscribe()
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  const { endpoint = '', keys = {} } = subscription.toJSON()
  await client.pushSubscriptions.create({ endpoint, keys: { p256dh: keys.p256dh ?? '', auth: keys.auth ?? '' } })
}

async function unsubscribe(client: Client): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration()
  const { items } = await client.pushSubscriptions.list()
  for (const { id, isCurrent } of items) if (isCurrent) await client.pushSubscriptions.delete(id)
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}

function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
