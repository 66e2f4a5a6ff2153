import { showInvisible } from '@countersign/react'
import { lazy, useId, useState } from 'react'
import { useServices } from '../services.tsx'
import { Button, Icon } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'

const load = () => import('./account-list.tsx')
const AccountList = lazy(load)

/** Who is signed in; behind it the roles and the way out. */
export function AccountMenu() {
  const { me } = useServices()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const menuId = useId()
  return (
    <>
      <Button
        className="account"
        aria-label={`Signed in as ${showInvisible(me.name)}`}
        title={`Signed in as ${showInvisible(me.name)}`}
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-controls={anchor ? menuId : undefined}
        onPointerEnter={load}
        onFocus={load}
        onClick={(event) => setAnchor(event.currentTarget)}
        data-testid="account"
      >
        <Icon name="user" />
        <span className="account-name">{showInvisible(me.name)}</span>
      </Button>
      {anchor && (
        <Boundary>
          <AccountList id={menuId} anchor={anchor} onClose={() => setAnchor(null)} />
        </Boundary>
      )}
    </>
  )
}
