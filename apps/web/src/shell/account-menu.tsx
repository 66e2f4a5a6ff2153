import { useId, useState } from 'react'
import { useServices } from '../services.tsx'
import { Icon, IconButton, Menu, MenuItem } from '../ui/index.ts'

/** Who is signed in, with which roles; and the way out where one signed in with a key. */
export function AccountMenu() {
  const { client, me, signIn } = useServices()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const menuId = useId()

  async function leave() {
    setAnchor(null)
    await client.signOut().catch(() => {})
    // A fresh page: nothing that the one who leaves could see stays in memory.
    location.assign('/')
  }

  return (
    <>
      <IconButton
        aria-label={`Signed in as ${me.name}`}
        title={`Signed in as ${me.name}`}
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-controls={anchor ? menuId : undefined}
        onClick={(event) => setAnchor(event.currentTarget)}
        data-testid="account"
      >
        <Icon name="user" />
      </IconButton>
      <Menu
        id={menuId}
        anchorEl={anchor}
        open={anchor !== null}
        onClose={() => setAnchor(null)}
        slotProps={{ list: { 'aria-label': 'Account' } }}
      >
        <MenuItem disabled sx={{ display: 'block', '&.Mui-disabled': { opacity: 1 } }}>
          <strong>{me.name}</strong>
          <div className="muted">{me.roles.length > 0 ? me.roles.join(', ') : 'no roles'}</div>
        </MenuItem>
        {signIn === 'key' && <MenuItem onClick={leave}>Sign out</MenuItem>}
      </Menu>
    </>
  )
}
