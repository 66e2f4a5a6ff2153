import type { Client, Me } from '@countersign/client'
import { useEffect, useRef, useState } from 'react'
import { errorText } from '../errors.ts'
import { Button } from '../ui/index.ts'
import { takeBegunSignIn } from './stored-sign-in.ts'

/**
 * Where the sign-in service sends the browser back to. Only this page, by a request of its own, makes the answer count; opening the address
 * changes nothing.
 */
export default function SignInReturn({ client, onSignIn }: { client: Client; onSignIn: (me: Me) => void }) {
  const [failure, setFailure] = useState('')
  const hasBegun = useRef(false)

  useEffect(() => {
    const answer = location.search
    if (answer === '' && !hasBegun.current) location.replace('/')
    hasBegun.current = true
    // The address is not kept in the history, because its code works only once.
    history.replaceState(null, '', location.pathname)
    if (answer === '') return
    client.finishSignIn(answer, { begun: takeBegunSignIn() }).then(
      ({ returnTo, ...me }) => {
        history.replaceState(null, '', returnTo)
        // The router reads the address when it is told that it changed.
        dispatchEvent(new PopStateEvent('popstate'))
        onSignIn(me)
      },
      (error: unknown) => setFailure(errorText(error)),
    )
  }, [client, onSignIn])

  if (failure === '') return <p className="visually-hidden">Signing in</p>
  return (
    <main className="empty" role="alert">
      <h1>You are not signed in</h1>
      <p>{failure}</p>
      <Button variant="outlined" onClick={() => location.assign('/')}>
        Begin again
      </Button>
    </main>
  )
}
