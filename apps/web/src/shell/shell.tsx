import type { Actions } from '@countersign/client'
import { Suspense, useEffect, useMemo, useState } from 'react'
import { Outlet } from 'react-router'
import { LiveRegions } from '../live/live-regions.tsx'
import { OpenActionsContext } from '../live/open-actions.ts'
import { useWaiting } from '../live/use-waiting.ts'
import { Drawer, useMediaQuery } from '../ui/index.ts'
import './shell.css'
import { ShellContext } from './shell-context.ts'
import { Sidebar } from './sidebar.tsx'

/** What stays around every page: sidebar (a drawer where it is narrow), live regions and the title of the tab. */
export function Shell() {
  const narrow = useMediaQuery('(max-width: 820px)', { noSsr: true })
  const [open, setOpen] = useState(false)
  const [openActions, setOpenActions] = useState<Actions>({})
  const { actionable } = useWaiting()
  const count = actionable.length

  useEffect(() => {
    document.title = count > 0 ? `(${count}) Countersign` : 'Countersign'
  }, [count])

  const shell = useMemo(() => ({ openSidebar: () => setOpen(true), sidebarButton: narrow }), [narrow])
  const close = () => setOpen(false)

  return (
    <ShellContext value={shell}>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <div className="shell" data-narrow={narrow}>
        {narrow ? (
          <Drawer open={open} onClose={close} slotProps={{ paper: { sx: { width: 'min(300px, 86vw)' }, 'aria-label': 'Sessions' } }}>
            <Sidebar onPick={close} />
          </Drawer>
        ) : (
          <Sidebar onPick={close} />
        )}
        <OpenActionsContext value={setOpenActions}>
          <Suspense fallback={<div className="page" />}>
            <Outlet />
          </Suspense>
        </OpenActionsContext>
      </div>
      <LiveRegions open={openActions} />
    </ShellContext>
  )
}
