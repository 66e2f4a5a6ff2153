import { type Client, type InboxStore, isApiError, type Me, openInbox } from '@countersign/client'
import { useInbox } from '@countersign/react'
import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, use, useEffect, useState } from 'react'
import { BrowserRouter, Route, Routes } from 'react-router'
import { NewChatPage } from './chat/new-chat-page.tsx'
import { SessionPage } from './chat/session-page.tsx'
import { errorText } from './errors.ts'
import { CommandsProvider } from './palette/commands.tsx'
import { type Services, ServicesProvider } from './services.tsx'
import { Boundary } from './shell/boundary.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { Shell } from './shell/shell.tsx'
import { hasSignInLink, onSignInElsewhere, takeSignInLink } from './sign-in/stored-sign-in.ts'
import { Button, UiProvider } from './ui/index.ts'

const WaitingPage = lazy(() => import('./waiting/waiting-page.tsx'))
const HistoryPage = lazy(() => import('./history/history-page.tsx'))
const DashboardPage = lazy(() => import('./dashboard/dashboard-page.tsx'))
const SessionsPage = lazy(() => import('./sessions/sessions-page.tsx'))
const TimelinePage = lazy(() => import('./timeline/timeline-page.tsx'))
const ActionPage = lazy(() => import('./action/action-page.tsx'))
const PolicyPage = lazy(() => import('./policy/policy-page.tsx'))
const GrantsPage = lazy(() => import('./grants/grants-page.tsx'))
const RecordPage = lazy(() => import('./record/record-page.tsx'))
const KeysPage = lazy(() => import('./keys/keys-page.tsx'))
const WebhooksPage = lazy(() => import('./webhooks/webhooks-page.tsx'))
const PeoplePage = lazy(() => import('./people/people-page.tsx'))
const PersonPage = lazy(() => import('./people/person-page.tsx'))
const DelegationsPage = lazy(() => import('./people/delegations-page.tsx'))
const ObjectivesPage = lazy(() => import('./objectives/objectives-page.tsx'))
const ObjectivePage = lazy(() => import('./objectives/objective-page.tsx'))
const ConsolesPage = lazy(() => import('./people/consoles-page.tsx'))
const HeldPage = lazy(() => import('./held/held-page.tsx'))
const ToolsPage = lazy(() => import('./tools/tools-page.tsx'))
const ToolPage = lazy(() => import('./tools/tool-page.tsx'))
const SignInPage = lazy(() => import('./sign-in/sign-in-page.tsx'))
const SignInReturn = lazy(() => import('./sign-in/sign-in-return.tsx'))

const ME = ['me']
/** Where the sign-in service sends the browser back to. */
const SIGN_IN_CALLBACK = '/sign-in/callback'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The server may be this very machine, which a browser without a network still reaches.
      networkMode: 'always',
      // A refusal stays one; only silence and the server's own trouble are worth a second try.
      retry: (failures, error) => failures < 2 && (!isApiError(error) || error.status === 0 || error.status >= 500),
    },
  },
})

/** The console. It is drawn once `ready` is fulfilled; why it cannot be drawn is said on the page. */
export function App({ client, ready }: { client: Client; ready: Promise<void> }) {
  return (
    <UiProvider>
      <QueryClientProvider client={queries}>
        <BrowserRouter>
          <Boundary>
            <Entrance client={client} ready={ready} />
          </Boundary>
        </BrowserRouter>
      </QueryClientProvider>
    </UiProvider>
  )
}

type Entering = Me & { linkFailure?: string }

/** Signs in with the link that the page was opened with, if there is one, and answers who is signed in. The link is used up in any case. */
async function enter(client: Client, signal: AbortSignal): Promise<Entering> {
  const link = takeSignInLink()
  if (link === undefined) return client.me({ signal })
  try {
    return await client.signInWithLink(link)
  } catch (error) {
    return { ...(await client.me({ signal })), linkFailure: errorText(error) }
  }
}

/** Lets in who is signed in or opened a sign-in link; shows everybody else how to sign in. */
function Entrance({ client, ready }: { client: Client; ready: Promise<void> }) {
  use(ready)
  const cache = useQueryClient()
  const me = useQuery({
    queryKey: ME,
    queryFn: ({ signal }) => enter(client, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

  useEffect(() => {
    const enterAnew = () => void cache.resetQueries({ queryKey: ME })
    // The address of a page that is open can change to a link's without loading it again.
    const onLink = () => hasSignInLink() && enterAnew()
    window.addEventListener('hashchange', onLink)
    const stop = onSignInElsewhere(enterAnew)
    return () => {
      window.removeEventListener('hashchange', onLink)
      stop()
    }
  }, [cache])

  if (me.isPending) return <p className="visually-hidden">Loading</p>
  if (me.isError) {
    return (
      <main className="empty" role="alert">
        <h1>Countersign cannot be reached</h1>
        <p>{errorText(me.error)}</p>
        <Button variant="outlined" onClick={() => me.refetch()}>
          Try again
        </Button>
      </main>
    )
  }
  const { principal, signIn, objectives: keepsObjectives = false, linkFailure } = me.data
  if (location.pathname === SIGN_IN_CALLBACK) {
    return <SignInReturn client={client} onSignIn={(found) => cache.setQueryData(ME, found)} />
  }
  if (principal) return <SignedIn client={client} me={principal} signIn={signIn} keepsObjectives={keepsObjectives} />
  return (
    <SignInPage
      way={signIn}
      linkFailure={linkFailure}
      client={client}
      onSignIn={async (key) => {
        cache.setQueryData(ME, await client.signIn(key))
      }}
    />
  )
}

function SignedIn({ client, me, signIn, keepsObjectives }: Omit<Services, 'inbox'>) {
  const [inbox, setInbox] = useState<InboxStore | null>(null)
  useEffect(() => {
    const opened = openInbox(client)
    setInbox(opened)
    return () => opened.close()
  }, [client])
  if (!inbox) return null
  return (
    <ServicesProvider value={{ client, inbox, me, signIn, keepsObjectives }}>
      <LeaveWhenSignedOut inbox={inbox} />
      <Routes>
        <Route
          element={
            <CommandsProvider>
              <Shell />
            </CommandsProvider>
          }
        >
          <Route index element={<NewChatPage />} />
          <Route path="sessions" element={<SessionsPage />} />
          <Route path="sessions/:sessionId" element={<SessionPage />} />
          <Route path="sessions/:sessionId/timeline" element={<TimelinePage />} />
          <Route path="waiting" element={<WaitingPage />} />
          <Route path="history" element={<HistoryPage />} />
          <Route path="dashboard" element={<DashboardPage />} />
          <Route path="actions/:actionId" element={<ActionPage />} />
          <Route path="policy" element={<PolicyPage />} />
          <Route path="tools" element={<ToolsPage />} />
          <Route path="tools/:name" element={<ToolPage />} />
          <Route path="grants" element={<GrantsPage />} />
          <Route path="record" element={<RecordPage />} />
          <Route path="keys" element={<KeysPage />} />
          <Route path="webhooks" element={<WebhooksPage />} />
          <Route path="people" element={<PeoplePage />} />
          <Route path="people/:id" element={<PersonPage />} />
          <Route path="delegations" element={<DelegationsPage />} />
          <Route path="objectives" element={<ObjectivesPage />} />
          <Route path="objectives/:objectiveId" element={<ObjectivePage />} />
          <Route path="held" element={<HeldPage />} />
          <Route path="consoles" element={<ConsolesPage />} />
          <Route path="*" element={<NotFoundPage />} />
        </Route>
      </Routes>
    </ServicesProvider>
  )
}

/** A sign-in that ended elsewhere shows first on the inbox's stream. */
function LeaveWhenSignedOut({ inbox }: { inbox: InboxStore }) {
  const cache = useQueryClient()
  const code = useInbox(inbox).failure?.code
  useEffect(() => {
    if (code === 'unauthenticated') void cache.resetQueries({ queryKey: ME })
  }, [code, cache])
  return null
}
