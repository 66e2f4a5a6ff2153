import { showInvisible } from '@countersign/react'
import { lazy, useId, useState } from 'react'
import { errorText } from '../errors.ts'
import { useServices } from '../services.tsx'
import { Button, Icon } from '../ui/index.ts'
import { Boundary } from './boundary.tsx'
import { Confirmation } from './confirmation.tsx'
import { useBarMenu } from './shell-context.ts'
import { useSignOut } from './use-sign-out.ts'

const load = () => import('./account-list.tsx')
const AccountList = lazy(load)

/** Shows who is signed in. The menu holds the roles and the sign-out button. */
export function AccountMenu() {
  const { me } = useServices()
  const { ref, anchor, open, close } = useBarMenu('account')
  const menuId = useId()
  const signOut = useSignOut()
  const [refused, setRefused] = useState<{ everywhere: boolean; error: unknown }>()
  const leave = (everywhere: boolean) => {
    close()
    signOut(everywhere).catch((error: unknown) => setRefused({ everywhere, error }))
  }
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
          <AccountList id={menuId} anchor={anchor} onClose={close} onSignOut={leave} />
        </Boundary>
      )}
      {refused && (
        <Confirmation
          title="You were not signed out"
          action="Try again"
          onConfirm={() => signOut(refused.everywhere)}
          onClose={() => setRefused(undefined)}
        >
          <p>{errorText(refused.error)}</p>
        </Confirmation>
      )}
    </>
  )
}
