import { useId, useState } from 'react'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { Icon, IconButton, Menu, MenuItem, useColorScheme } from '../ui/index.ts'

const THEMES = [
  { mode: 'light', word: 'Light' },
  { mode: 'dark', word: 'Dark' },
  { mode: 'system', word: 'As the system' },
] as const

/** Theme and shortcuts, both remembered in this browser. */
export function SettingsMenu() {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const { mode, setMode } = useColorScheme()
  const [shortcuts, setShortcuts] = useShortcuts()
  const menuId = useId()
  return (
    <>
      <IconButton
        aria-label="Settings"
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-controls={anchor ? menuId : undefined}
        onClick={(event) => setAnchor(event.currentTarget)}
      >
        <Icon name="settings" />
      </IconButton>
      <Menu
        id={menuId}
        anchorEl={anchor}
        open={anchor !== null}
        onClose={() => setAnchor(null)}
        slotProps={{ list: { 'aria-label': 'Settings' } }}
      >
        {THEMES.map(({ mode: each, word }) => (
          <MenuItem key={each} role="menuitemradio" aria-checked={mode === each} divider={each === 'system'} onClick={() => setMode(each)}>
            <Mark on={mode === each} />
            Theme: {word}
          </MenuItem>
        ))}
        <MenuItem role="menuitemcheckbox" aria-checked={shortcuts} onClick={() => setShortcuts(!shortcuts)}>
          <Mark on={shortcuts} />
          Keyboard shortcuts
        </MenuItem>
      </Menu>
    </>
  )
}

function Mark({ on }: { on: boolean }) {
  return <span className="menu-mark">{on && <Icon name="check" />}</span>
}
