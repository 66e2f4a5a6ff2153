import { Drawer } from '../ui/overlays.ts'
import { Sidebar } from './sidebar.tsx'

/** Shows the sidebar over the page on narrow screens. */
export default function SidebarDrawer({ onClose }: { onClose: () => void }) {
  return (
    <Drawer open onClose={onClose} slotProps={{ paper: { sx: { width: 'min(300px, 86vw)' }, 'aria-label': 'Sessions' } }}>
      <Sidebar onPick={onClose} />
    </Drawer>
  )
}
