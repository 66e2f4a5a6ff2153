import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { Menu, MenuItem } from '../ui/overlays.ts'

type AccountListProps = {
  id: string
  anchor: HTMLElement
  onClose: () => void
  onSignOut: (everywhere: boolean) => void
}

/** Shows the signed-in person's name and roles, and the sign-out button. */
export default function AccountList({ id, anchor, onClose, onSignOut }: AccountListProps) {
  const { me } = useServices()
  return (
    <Menu id={id} anchorEl={anchor} open onClose={onClose} slotProps={{ list: { 'aria-label': 'Account' } }}>
      <MenuItem disabled sx={{ display: 'block', whiteSpace: 'normal', overflowWrap: 'anywhere', '&.Mui-disabled': { opacity: 1 } }}>
        <strong>{showInvisible(me.name)}</strong>
        <div className="muted">{me.roles.length > 0 ? showInvisible(me.roles.join(', ')) : 'no roles'}</div>
      </MenuItem>
      <MenuItem component={Link} to="/consoles" onClick={onClose}>
        Where you are signed in
      </MenuItem>
      <MenuItem onClick={() => onSignOut(false)}>Sign out</MenuItem>
      <MenuItem onClick={() => onSignOut(true)}>Sign out everywhere</MenuItem>
    </Menu>
  )
}
