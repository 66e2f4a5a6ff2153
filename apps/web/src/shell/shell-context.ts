import { createContext, use, useState } from 'react'

export type BarMenu = 'keys' | 'settings' | 'account' | 'palette'
type ShellState = {
  openSidebar: () => void
  sidebarButton: boolean
  /** The menu of the bar that is open. Here and not in the bar: a page that has loaded draws a new bar, and the menu stays open. */
  menu: BarMenu | null
  setMenu: (menu: BarMenu | null) => void
}

/** How a page's bar opens the sidebar where it is a drawer, and its menus. */
export const ShellContext = createContext<ShellState>({ openSidebar: () => {}, sidebarButton: false, menu: null, setMenu: () => {} })

export const useShell = (): ShellState => use(ShellContext)

/** A menu of the bar. `ref` is for its button; `anchor` is that button while the menu is open, else null. */
export function useBarMenu(name: BarMenu) {
  const { menu, setMenu } = useShell()
  const [button, ref] = useState<HTMLElement | null>(null)
  return { ref, anchor: menu === name ? button : null, open: () => setMenu(name), close: () => setMenu(null) }
}
