import { showInvisible } from '@countersign/react'
import { lazy, useId } from 'react'
import { useServices } from '../services.tsx'
import { Button, Icon } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'
import { useBarMenu } from './shell-context.ts'

const load = () => import('./account-list.tsx')
const AccountList = lazy(load)

/** Shows who is signed in. The menu holds the roles and the sign-out button. */
export function AccountMenu() {
  const { me } = useServices()
  const { ref, anchor, open, close } = useBarMenu('account')
  const menuId = useId()
  return (
    <>
      <Button
        ref={ref}
        className="account"
        aria-label={`Signed in as ${showInvisible(me.name)}`}
        title={`Signed in as ${showInvisible(me.name)}`}
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-controls={anchor ? menuId : undefined}
        onPointerEnter={load}
        onFocus={load}
        onClick={open}
        data-testid="account"
      >
        <Icon name="user" />
        <span className="account-name clip">{showInvisible(me.name)}</span>
      </Button>
      {anchor && (
        <Boundary>
          <AccountList id={menuId} anchor={anchor} onClose={close} />
        </Boundary>
      )}
    </>
  )
}
