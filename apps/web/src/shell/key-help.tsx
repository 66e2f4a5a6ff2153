import { lazy, useEffect, useState } from 'react'
import { isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { Icon, IconButton } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'

const load = () => import('./key-list.tsx')
const KeyList = lazy(load)

/** The button and the `?` key that list all keys. */
export function KeyHelp() {
  const [open, setOpen] = useState(false)
  const [shortcuts] = useShortcuts()

  useEffect(() => {
    if (!shortcuts) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shortcuts])

  return (
    <>
      <IconButton data-keys aria-label="Keyboard shortcuts" onPointerEnter={load} onFocus={load} onClick={() => setOpen(true)}>
        <Icon name="help" />
      </IconButton>
      {open && (
        <Boundary>
          <KeyList onClose={() => setOpen(false)} />
        </Boundary>
      )}
    </>
  )
}
