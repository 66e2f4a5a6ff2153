import { Drawer } from '../ui/overlays.ts'
import { Sidebar } from './sidebar.tsx'

/** The sidebar over the page, where there is no room beside it. */
export default function SidebarDrawer({ onClose }: { onClose: () => void }) {
  return (
    <Drawer open onClose={onClose} slotProps={{ paper: { sx: { width: 'min(300px, 86vw)' }, 'aria-label': 'Sessions' } }}>
      <Sidebar onPick={onClose} />
    </Drawer>
  )
}
