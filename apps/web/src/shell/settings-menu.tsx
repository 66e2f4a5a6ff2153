import { lazy, useId } from 'react'
import { Icon, IconButton } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'
import { useBarMenu } from './shell-context.ts'

const load = () => import('./settings-list.tsx')
const SettingsList = lazy(load)

/** Theme and shortcuts, both remembered in this browser. */
export function SettingsMenu() {
  const { ref, anchor, open, close } = useBarMenu('settings')
  const menuId = useId()
  return (
    <>
      <IconButton
        ref={ref}
        aria-label="Settings"
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-controls={anchor ? menuId : undefined}
        onPointerEnter={load}
        onFocus={load}
        onClick={open}
      >
        <Icon name="settings" />
      </IconButton>
      {anchor && (
        <Boundary>
          <SettingsList id={menuId} anchor={anchor} onClose={close} />
        </Boundary>
      )}
    </>
  )
}
