import { lazy, useLayoutEffect } from 'react'
import { isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { Icon, IconButton } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'
import { useShell } from './shell-context.ts'

const load = () => import('./key-list.tsx')
const KeyList = lazy(load)

/** The button and the `?` key that list all keys. */
export function KeyHelp() {
  const { menu, setMenu } = useShell()
  const [shortcuts] = useShortcuts()

  useLayoutEffect(() => {
    if (!shortcuts) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      setMenu('keys')
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shortcuts, setMenu])

  return (
    <>
      <IconButton data-keys aria-label="Keyboard shortcuts" onPointerEnter={load} onFocus={load} onClick={() => setMenu('keys')}>
        <Icon name="help" />
      </IconButton>
      {menu === 'keys' && (
        <Boundary>
          <KeyList onClose={() => setMenu(null)} />
        </Boundary>
      )}
    </>
  )
}
