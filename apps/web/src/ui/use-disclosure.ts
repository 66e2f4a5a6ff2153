import { type SyntheticEvent, useState } from 'react'

/**
 * Returns the props of a `details` that opens by itself once something in it is needed. Only a person closes it: one that closed itself would
 * take the focus from the field in which they type.
 * @example
 * <details {...useDisclosure(problems.length > 0)}>
 */
export function useDisclosure(isNeeded: boolean) {
  const [open, setOpen] = useState(isNeeded)
  const [wasNeeded, setWasNeeded] = useState(isNeeded)
  if (isNeeded !== wasNeeded) {
    setWasNeeded(isNeeded)
    if (isNeeded) setOpen(true)
  }
  return { open, onToggle: ({ currentTarget }: SyntheticEvent<HTMLDetailsElement>) => setOpen(currentTarget.open) }
}
