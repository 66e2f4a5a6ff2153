import type { Client, Me } from '@countersign/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorText } from '../errors.ts'
import mark from '../ui/countersign.svg'
import { Button } from '../ui/index.ts'
import { keepBegunSignIn } from './stored-sign-in.ts'
import './sign-in.css'

type SignInPageProps = {
  /** How people sign in here. */
  way: Me['signIn']
  /** Why the sign-in link that was opened signed nobody in, or a sign-out ended in this browser only. */
  signInNotice: string | undefined
  client: Client
  onSignIn: (key: string) => Promise<void>
}

/**
 * Leads to the sign-in service where there is one; says how to get a sign-in link at the server's own machine; or asks for a key and hands
 * it to the server. The key is kept nowhere here.
 */
export default function SignInPage({ way, signInNotice = '', client, onSignIn }: SignInPageProps) {
  const field = useRef<HTMLInputElement>(null)
  const [failure, setFailure] = useState(signInNotice)
  const [isBusy, setBusy] = useState(false)

  useEffect(() => {
    document.title = 'Sign in – Countersign'
    // After the browser's Back, the page is as it was left for the sign-in service: busy.
    const onBack = ({ persisted }: PageTransitionEvent) => persisted && setBusy(false)
    window.addEventListener('pageshow', onBack)
    return () => window.removeEventListener('pageshow', onBack)
  }, [])

  async function submit(event: FormEvent) {
    event.preventDefault()
    const input = field.current
    if (!input?.value || isBusy) return
    setBusy(true)
    setFailure('')
    try {
      await onSignIn(input.value.trim())
    } catch (error) {
      setFailure(errorText(error))
      input.focus()
    } finally {
      // Uncontrolled on purpose: the key never enters the state of the page.
      input.value = ''
      setBusy(false)
    }
  }

  async function leave() {
    setBusy(true)
    setFailure('')
    try {
      const { url, begun } = await client.beginSignIn(location.pathname + location.search)
      keepBegunSignIn(begun)
      location.assign(url)
    } catch (error) {
      setFailure(errorText(error))
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <img src={mark} alt="" width={36} height={36} />
        <h1>Sign in to Countersign</h1>
        {way === 'local' && (
          <p data-testid="sign-in-link">
            Open a sign-in link: run <span className="mono">countersign sign-in</span> on the machine of this server, in the folder where it
            was started.
          </p>
        )}
        {way === 'oidc' && (
          <Button variant="contained" disabled={isBusy} onClick={leave} data-testid="sign-in-service">
            Sign in with your organisation
          </Button>
        )}
        <label htmlFor="sign-in-key">Key</label>
        <input
          id="sign-in-key"
          ref={field}
          type="password"
          autoComplete="off"
          spellCheck={false}
          aria-invalid={failure !== '' && failure !== signInNotice}
          aria-describedby="sign-in-note"
          data-testid="sign-in-key"
        />
        <p id="sign-in-note" className="muted">
          Whoever runs this server gives you a key, or makes one with <span className="mono">countersign key</span>. It is sent once and not
          kept in this browser.
        </p>
        {failure && (
          <p role="alert" className="sign-in-failure">
            {failure}
          </p>
        )}
        <Button type="submit" variant={way === 'key' ? 'contained' : 'outlined'} disabled={isBusy}>
          {isBusy ? 'Signing in…' : way === 'key' ? 'Sign in' : 'Sign in with a key'}
        </Button>
      </form>
    </main>
  )
}
