import type { Actions } from '@countersign/client'
import { lazy, useCallback, useEffect, useMemo, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { LiveRegions } from '../live/live-regions.tsx'
import { OpenActionsContext } from '../live/open-actions.ts'
import { useBadge } from '../live/use-badge.ts'
import { useNotifications } from '../live/use-notifications.ts'
import { useWaiting } from '../live/use-waiting.ts'
import { useKnownDensity } from '../preferences/density.ts'
import { useMediaQuery } from '../ui/index.ts'
import { UndoBar } from '../undo/undo-bar.tsx'
import { Boundary } from './boundary.tsx'
import './shell.css'
import { type BarMenu, ShellContext } from './shell-context.ts'
import { Sidebar } from './sidebar.tsx'
import { useSessionsFollowing } from './use-sessions.ts'
import { useShellKeys } from './use-shell-keys.ts'

const Palette = lazy(() => import('../palette/palette.tsx'))
const SidebarDrawer = lazy(() => import('./sidebar-drawer.tsx'))

/** The frame of every page: sidebar (a drawer on narrow screens), and live regions. */
export function Shell() {
  const density = useKnownDensity()
  const narrow = useMediaQuery('(max-width: 820px)')
  const [open, setOpen] = useState(false)
  const [opened, setOpened] = useState<{ menu: BarMenu; on: string } | null>(null)
  const [openActions, setOpenActions] = useState<Actions>({})
  const { items, actionable, forMe, loaded } = useWaiting()
  useSessionsFollowing(items, loaded)
  const { pathname } = useLocation()

  useBadge(forMe.count)
  useNotifications(actionable, loaded)

  const menu = opened?.menu ?? null
  const setMenu = useCallback((menu: BarMenu | null) => setOpened(menu && { menu, on: window.location.pathname }), [])
  // The address changes before its page shows: what was opened in between belongs to the new page and stays.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page is the event, not an input
  useEffect(() => setOpened((now) => (now?.on === window.location.pathname ? now : null)), [pathname])

  const shell = useMemo(() => ({ openSidebar: () => setOpen(true), sidebarButton: narrow, menu, setMenu }), [narrow, menu, setMenu])
  useShellKeys(useCallback(() => setMenu('palette'), [setMenu]))
  const close = () => setOpen(false)

  return (
    <ShellContext value={shell}>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <div className="shell" data-narrow={narrow} data-density={density}>
        {narrow ? (
          open && (
            <Boundary>
              <SidebarDrawer onClose={close} />
            </Boundary>
          )
        ) : (
          <Sidebar onPick={close} />
        )}
        <OpenActionsContext value={setOpenActions}>
          <Boundary key={pathname} fallback={<div className="page" />}>
            <Outlet />
          </Boundary>
        </OpenActionsContext>
      </div>
      <LiveRegions open={openActions} />
      <UndoBar />
      {menu === 'palette' && (
        <Boundary>
          <Palette onClose={() => setMenu(null)} />
        </Boundary>
      )}
    </ShellContext>
  )
}
