import type { Client } from '@countersign/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorText } from '../errors.ts'
import mark from '../ui/countersign.svg'
import { Button } from '../ui/index.ts'
import './sign-in.css'

/**
 * Leads to the sign-in service where there is one (`client` begins that); or asks for a key and hands it to the server, which answers with a
 * cookie. The key is kept nowhere here.
 */
export default function SignInPage({ client, onSignIn }: { client: Client | undefined; onSignIn: (key: string) => Promise<void> }) {
  const field = useRef<HTMLInputElement>(null)
  const [failure, setFailure] = useState('')
  const [isBusy, setBusy] = useState(false)

  useEffect(() => {
    document.title = 'Sign in – Countersign'
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

  async function leave(begun: Client) {
    setBusy(true)
    setFailure('')
    try {
      const { url } = await begun.beginSignIn(location.pathname + location.search)
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
        {client && (
          <Button variant="contained" disabled={isBusy} onClick={() => leave(client)} data-testid="sign-in-service">
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
          aria-invalid={failure !== ''}
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
        <Button type="submit" variant={client ? 'outlined' : 'contained'} disabled={isBusy}>
          {isBusy ? 'Signing in…' : client ? 'Sign in with a key' : 'Sign in'}
        </Button>
      </form>
    </main>
  )
}
