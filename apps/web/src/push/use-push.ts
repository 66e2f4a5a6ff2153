import { useState } from 'react'
import { useStoredSwitch } from '../preferences/stored-switch.ts'
import { useServices } from '../services.tsx'
import { isSupported, subscribe, switchOf, unsubscribe } from './subscribe.ts'

/** Whether this browser notifies the person while no page of the console is open. They say so here, and then to the browser. */
export function usePushSwitch() {
  const { client, me } = useServices()
  const [isWanted, setWanted] = useStoredSwitch(switchOf(me.id), false)
  const [failed, setFailed] = useState(false)
  const [given, setGiven] = useState(() => ('Notification' in window ? Notification.permission : 'denied'))

  async function toggle(): Promise<void> {
    setFailed(false)
    if (isWanted) {
      await unsubscribe(client)
      return setWanted(false)
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
