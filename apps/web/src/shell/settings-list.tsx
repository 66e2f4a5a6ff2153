import { DENSITIES, useDensity } from '../preferences/density.ts'
import { useNotifySwitch } from '../preferences/notify.ts'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { UNDO_TIMES, UNDO_WORDS, useUndoTime } from '../preferences/undo-time.ts'
import { usePushSwitch } from '../push/use-push.ts'
import { QUIET_TIMES, quietWords, useQuietHours } from '../push/use-quiet-hours.ts'
import { Icon, useColorScheme } from '../ui/index.ts'
import { Menu, MenuItem } from '../ui/overlays.ts'

const THEMES = [
  { mode: 'light', word: 'Light' },
  { mode: 'dark', word: 'Dark' },
  { mode: 'system', word: 'As the system' },
] as const

/** Behind a choice that the server did not store. */
const NOT_SAVED = ' – not saved, try again'

/** The choices behind the settings button; a choice leaves the menu open, so that its effect can be seen. */
export default function SettingsList({ id, anchor, onClose }: { id: string; anchor: HTMLElement; onClose: () => void }) {
  const { mode, setMode } = useColorScheme()
  const [density, setDensity, unsavedDensity] = useDensity()
  const [shortcuts, setShortcuts] = useShortcuts()
  const notify = useNotifySwitch()
  const [undoTime, setUndoTime, unsavedUndoTime] = useUndoTime()
  const push = usePushSwitch()
  const quiet = useQuietHours()
  return (
    <Menu id={id} anchorEl={anchor} open onClose={onClose} slotProps={{ list: { 'aria-label': 'Settings' } }}>
      {THEMES.map(({ mode: each, word }) => (
        <MenuItem key={each} role="menuitemradio" aria-checked={mode === each} divider={each === 'system'} onClick={() => setMode(each)}>
          <Mark on={mode === each} />
          Theme: {word}
        </MenuItem>
      ))}
      {DENSITIES.map((each) => (
        <MenuItem
          key={each}
          role="menuitemradio"
          aria-checked={density === each}
          divider={each === DENSITIES.at(-1)}
          onClick={() => setDensity(each)}
        >
          <Mark on={density === each} />
          Rows: {each}
          {unsavedDensity === each && NOT_SAVED}
        </MenuItem>
      ))}
      {UNDO_TIMES.map((each) => (
        <MenuItem
          key={each}
          role="menuitemradio"
          aria-checked={undoTime === each}
          divider={each === UNDO_TIMES.at(-1)}
          onClick={() => setUndoTime(each)}
        >
          <Mark on={undoTime === each} />
          Undo after approving: {UNDO_WORDS[each].toLowerCase()}
          {unsavedUndoTime === each && NOT_SAVED}
        </MenuItem>
      ))}
      <MenuItem role="menuitemcheckbox" aria-checked={notify.isOn} disabled={notify.isBlocked} onClick={notify.toggle}>
        <Mark on={notify.isOn} />
        {notify.isBlocked ? 'Notifications are blocked by the browser' : 'Notify me of new approvals'}
      </MenuItem>
      {push.isSupported && !push.isBlocked && (
        <MenuItem role="menuitemcheckbox" aria-checked={push.isOn} divider={!push.isOn} onClick={push.toggle}>
          <Mark on={push.isOn} />
          {push.failed
            ? `This browser could not ${push.isOn ? 'unsubscribe' : 'subscribe'}: try again`
            : 'Notify me while the console is closed'}
        </MenuItem>
      )}
      {push.isOn &&
        QUIET_TIMES.map((times, at) => (
          <MenuItem
            key={quietWords(times)}
            role="menuitemradio"
            aria-checked={quietWords(quiet.now) === quietWords(times)}
            divider={at === QUIET_TIMES.length - 1}
            onClick={() => quiet.choose(times)}
          >
            <Mark on={quietWords(quiet.now) === quietWords(times)} />
            Quiet hours: {quietWords(times)}
            {quiet.unsaved === times && NOT_SAVED}
          </MenuItem>
        ))}
      <MenuItem role="menuitemcheckbox" aria-checked={shortcuts} onClick={() => setShortcuts(!shortcuts)}>
        <Mark on={shortcuts} />
        Keyboard shortcuts
      </MenuItem>
    </Menu>
  )
}

function Mark({ on }: { on: boolean }) {
  return <span className="menu-mark">{on && <Icon name="check" />}</span>
}
