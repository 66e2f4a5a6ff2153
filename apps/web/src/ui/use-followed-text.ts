import { useState } from 'react'

/**
 * Returns the text of a field that applies once it is complete. Where what it is set to changes, by a link or because a name was read, the text
 * follows, unless somebody has typed another one by then: the field, and the focus in it, stay.
 * @example
 * const [typed, setTyped] = useFollowedText(action ?? '')
 */
export function useFollowedText(value: string) {
  const [typed, setTyped] = useState(value)
  const [was, setWas] = useState(value)
  if (value !== was) {
    setWas(value)
    if (typed.trim() === was) setTyped(value)
  }
  return [typed, setTyped] as const
}
