import { DENSITIES, useDensity } from '../preferences/density.ts'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { useShell } from '../shell/shell-context.ts'
import { type IconName, useColorScheme } from '../ui/index.ts'

type Everywhere = { name: string; kind: string; icon: IconName; run: () => void }

/** Returns the commands of every page: settings, help and the account. */
export function useEverywhere(): readonly Everywhere[] {
  const { setMode } = useColorScheme()
  const [, setDensity] = useDensity()
  const [shortcuts, setShortcuts] = useShortcuts()
  const { setMenu } = useShell()
  const setting = (name: string, run: () => void): Everywhere => ({ name, kind: 'Setting', icon: 'settings', run })
  return [
    { name: 'Settings: notifications, time to undo, quiet hours', kind: 'Menu', icon: 'settings', run: () => setMenu('settings') },
    { name: 'Help with keys', kind: 'Help', icon: 'help', run: () => setMenu('keys') },
    { name: 'API reference', kind: 'Help', icon: 'help', run: () => location.assign('/api/docs/') },
    ...(['light', 'dark', 'system'] as const).map((mode) =>
      setting(`Theme: ${mode === 'system' ? 'as the system' : mode}`, () => setMode(mode)),
    ),
    ...DENSITIES.map((density) => setting(`Rows: ${density}`, () => setDensity(density))),
    setting(`Turn keyboard shortcuts ${shortcuts ? 'off' : 'on'}`, () => setShortcuts(!shortcuts)),
    { name: 'Account: sign out', kind: 'Menu', icon: 'user', run: () => setMenu('account') },
  ]
}
