import { DENSITIES, useDensity } from '../preferences/density.ts'
import { useNotifySwitch } from '../preferences/notify.ts'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { THEMES } from '../preferences/themes.ts'
import { UNDO_TIMES, UNDO_WORDS, useUndoTime } from '../preferences/undo-time.ts'
import { useShell } from '../shell/shell-context.ts'
import { useSignOut } from '../shell/use-sign-out.ts'
import { type IconName, useColorScheme } from '../ui/index.ts'

type Everywhere = { name: string; kind: string; icon: IconName; run: () => void }

/** Returns the commands of every page: settings, help and sign-out. */
export function useEverywhere(): readonly Everywhere[] {
  const { setMode } = useColorScheme()
  const [, setDensity] = useDensity()
  const [, setUndoTime] = useUndoTime()
  const [shortcuts, setShortcuts] = useShortcuts()
  const notify = useNotifySwitch()
  const { setMenu } = useShell()
  const signOut = useSignOut()
  const setting = (name: string, run: () => void): Everywhere => ({ name, kind: 'Setting', icon: 'settings', run })
  return [
    { name: 'Settings', kind: 'Menu', icon: 'settings', run: () => setMenu('settings') },
    { name: 'Help with keys', kind: 'Help', icon: 'help', run: () => setMenu('keys') },
    { name: 'API reference', kind: 'Help', icon: 'help', run: () => location.assign('/api/docs/') },
    ...THEMES.map(({ mode, word }) => setting(`Theme: ${word.toLowerCase()}`, () => setMode(mode))),
    ...DENSITIES.map((density) => setting(`Rows: ${density}`, () => setDensity(density))),
    ...UNDO_TIMES.map((time) => setting(`Undo after approving: ${UNDO_WORDS[time].toLowerCase()}`, () => setUndoTime(time))),
    setting(`Turn keyboard shortcuts ${shortcuts ? 'off' : 'on'}`, () => setShortcuts(!shortcuts)),
    ...(notify.isBlocked ? [] : [setting(`Turn notifications ${notify.isOn ? 'off' : 'on'}`, notify.toggle)]),
    { name: 'Sign out', kind: 'Account', icon: 'user', run: () => void signOut(false) },
    { name: 'Sign out everywhere', kind: 'Account', icon: 'user', run: () => void signOut(true) },
  ]
}
