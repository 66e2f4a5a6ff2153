import { useEffect, useState } from 'react'

const REST_MS = 500

/** True for half a second after the first drawing: a press that was meant for what stood here before does nothing. */
export function useRest(): boolean {
  const [isResting, setResting] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setResting(false), REST_MS)
    return () => clearTimeout(timer)
  }, [])
  return isResting
}
