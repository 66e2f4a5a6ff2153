import { useState } from 'react'
import { useStoredSwitch } from './stored-switch.ts'

const permission = (): NotificationPermission => ('Notification' in window ? Notification.permission : 'denied')

/** Whether this browser notifies of new approvals: off until the person turns it on here and allows it in the browser. */
export function useNotifySwitch() {
  const [isWanted, setWanted] = useStoredSwitch('countersign-notify', false)
  const [given, setGiven] = useState(permission)
  const isOn = isWanted && given === 'granted'
  async function toggle() {
    if (isOn) return setWanted(false)
    // The browser asks only after a press.
    const answer = given === 'default' ? await Notification.requestPermission() : given
    setGiven(answer)
    setWanted(answer === 'granted')
  }
  return { isOn, isBlocked: given === 'denied', toggle: () => void toggle() }
}
