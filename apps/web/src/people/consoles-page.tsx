import type { ConsoleSessionView } from '@countersign/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { PageBanner } from '../live/page-banner.tsx'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Page } from '../shell/page.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Loaded, More, useList } from '../ui/index.ts'
import { SIGN_IN_WORDS } from './sign-in-words.ts'
import { UnacceptedKeys } from './unaccepted-keys.tsx'
import '../ui/pages.css'

/** `/consoles`: where this person is signed in, and signing out there. */
export default function ConsolesPage() {
  const { client } = useServices()
  const consoles = useList(['consoles'], (cursor, signal) => client.consoleSessions.list({ cursor }, { signal }))
  const [ending, setEnding] = useState<ConsoleSessionView | 'others'>()
  const others = consoles.data?.filter(({ isCurrent }) => !isCurrent) ?? []
  return (
    <Page title="Where you are signed in" subtitle="Your own console sessions">
      <div className="stack">
        <PageBanner />
        <UnacceptedKeys />
        <Loaded of={consoles} height={200}>
          {(items) => (
            <ul className="rows" aria-label="Console sessions">
              {items.map((held) => (
                <ConsoleRow key={held.id} held={held} onEnd={() => setEnding(held)} />
              ))}
            </ul>
          )}
        </Loaded>
        <More of={consoles} />
        {others.length > 0 && <SignOutOthers onAsk={() => setEnding('others')} />}
        <p className="muted">An unknown session may be somebody with your key. Sign it out and have the key revoked.</p>
      </div>
      {ending && <EndConsole ending={ending} onClose={() => setEnding(undefined)} />}
    </Page>
  )
}

function SignOutOthers({ onAsk }: { onAsk: () => void }) {
  const online = useOnline()
  return (
    <p>
      <Button variant="contained" disabled={!online} onClick={onAsk}>
        Sign out everywhere else
      </Button>
    </p>
  )
}

function ConsoleRow({ held, onEnd }: { held: ConsoleSessionView; onEnd: () => void }) {
  const online = useOnline()
  const { how, isCurrent, createdAt, seenAt, endsAt } = held
  return (
    <li className="row-card" data-testid="console-session" data-current={isCurrent}>
      <div className="row-head">
        <strong>{SIGN_IN_WORDS[how]}</strong>
        {isCurrent ? (
          <span className="badge-text">This browser</span>
        ) : (
          <Button variant="outlined" disabled={!online} onClick={onEnd}>
            Sign out
          </Button>
        )}
      </div>
      <p className="muted">
        Since <time dateTime={createdAt}>{fullTime(createdAt)}</time> · last seen <time dateTime={seenAt}>{fullTime(seenAt)}</time> · ends{' '}
        <time dateTime={endsAt}>{fullTime(endsAt)}</time> if nobody is there
      </p>
    </li>
  )
}

function EndConsole({ ending, onClose }: { ending: ConsoleSessionView | 'others'; onClose: () => void }) {
  const { client } = useServices()
  const queries = useQueryClient()
  async function end() {
    await (ending === 'others' ? client.consoleSessions.endOthers() : client.consoleSessions.end(ending.id))
    await queries.invalidateQueries({ queryKey: ['consoles'] })
  }
  return (
    <Confirmation
      title={ending === 'others' ? 'Sign out everywhere else?' : 'Sign out there?'}
      action="Sign out"
      onConfirm={end}
      onClose={onClose}
    >
      <p>
        {ending === 'others' ? 'Every other browser is asked to sign in again. This one stays.' : 'That browser is asked to sign in again.'}
      </p>
    </Confirmation>
  )
}
