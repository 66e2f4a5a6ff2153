import { createContext, use } from 'react'

type ShellState = { openSidebar: () => void; sidebarButton: boolean }

/** How a page's bar opens the sidebar where it is a drawer. */
export const ShellContext = createContext<ShellState>({ openSidebar: () => {}, sidebarButton: false })

export const useShell = (): ShellState => use(ShellContext)
