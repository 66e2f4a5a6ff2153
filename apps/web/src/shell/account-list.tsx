import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { forgetDrafts } from '../drafts.ts'
import { useServices } from '../services.tsx'
import { Menu, MenuItem } from '../ui/overlays.ts'

/** Shows the signed-in person's name and roles, and the sign-out button. */
export default function AccountList({ id, anchor, onClose }: { id: string; anchor: HTMLElement; onClose: () => void }) {
  const { client, me } = useServices()

  async function leave(everywhere: boolean) {
    onClose()
    const { endSessionUrl } = await client.signOut({ everywhere }).catch((): { endSessionUrl?: string } => ({}))
    // No data of the previous person stays, in the tab's storage or, as the page is loaded anew, in its memory.
    forgetDrafts()
    location.assign(endSessionUrl ?? '/')
  }

  return (
    <Menu id={id} anchorEl={anchor} open onClose={onClose} slotProps={{ list: { 'aria-label': 'Account' } }}>
      <MenuItem disabled sx={{ display: 'block', whiteSpace: 'normal', overflowWrap: 'anywhere', '&.Mui-disabled': { opacity: 1 } }}>
        <strong>{showInvisible(me.name)}</strong>
        <div className="muted">{me.roles.length > 0 ? showInvisible(me.roles.join(', ')) : 'no roles'}</div>
      </MenuItem>
      <MenuItem component={Link} to="/consoles" onClick={onClose}>
        Where you are signed in
      </MenuItem>
      <MenuItem onClick={() => leave(false)}>Sign out</MenuItem>
      <MenuItem onClick={() => leave(true)}>Sign out everywhere</MenuItem>
    </Menu>
  )
}
