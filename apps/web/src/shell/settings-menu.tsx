import { lazy, useId, useState } from 'react'
import { Icon, IconButton } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'

const load = () => import('./settings-list.tsx')
const SettingsList = lazy(load)

/** Theme and shortcuts, both remembered in this browser. */
export function SettingsMenu() {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const menuId = useId()
  return (
    <>
      <IconButton
        aria-label="Settings"
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-controls={anchor ? menuId : undefined}
        onPointerEnter={load}
        onFocus={load}
        onClick={(event) => setAnchor(event.currentTarget)}
      >
        <Icon name="settings" />
      </IconButton>
      {anchor && (
        <Boundary>
          <SettingsList id={menuId} anchor={anchor} onClose={() => setAnchor(null)} />
        </Boundary>
      )}
    </>
  )
}
