import { type Client, type InboxStore, isApiError } from '@countersign/client'
import { useInbox } from '@countersign/react'
import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { BrowserRouter, Navigate, Route, Routes, useLocation } from 'react-router'
import { beginDraftsOf } from './drafts.ts'
import { errorText } from './errors.ts'
import type { Entering, HeadStart } from './head-start.ts'
import { PageAt } from './page-routes.tsx'
import { PAGE_PATHS } from './pages.ts'
import { CommandsProvider } from './palette/commands.tsx'
import { type Services, ServicesProvider } from './services.tsx'
import { Boundary } from './shell/boundary.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { Shell } from './shell/shell.tsx'
import { hasSignInLink, onSignInElsewhere } from './sign-in/stored-sign-in.ts'
import { Button, UiProvider } from './ui/index.ts'
import { beginStartsOf } from './undo/starts.ts'

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
      // Off by default in this mode.
      refetchOnReconnect: true,
      // A refusal stays one; only silence and the server's own trouble are worth a second try.
      retry: (failures, error) => failures < 2 && (!isApiError(error) || error.status === 0 || error.status >= 500),
    },
    // A change fails at once without a network: it must not wait and be made later, when its dialog was cancelled.
    mutations: { networkMode: 'always' },
  },
})

export type AppProps = {
  client: Client
  /** The requests that were sent before the console was drawn. */
  headStart: HeadStart
  /** Why the console cannot be used; said on the page. */
  failure: unknown
}

/** The console. */
export function App(props: AppProps) {
  return (
    <UiProvider>
      <QueryClientProvider client={queries}>
        <BrowserRouter>
          <Boundary>
            <Entrance {...props} />
          </Boundary>
        </BrowserRouter>
      </QueryClientProvider>
    </UiProvider>
  )
}

/** Stores who is signed in, if that is known already. It is no initial data, because a query that is reset would return to that. */
export const noteEntered = (entered: Entering | undefined): void => void (entered && queries.setQueryData(ME, entered))

/** Asks again who is signed in, and forgets everything that was read for the person of before: another one may see less. */
function enterAnew(cache: QueryClient): void {
  void cache.resetQueries({ queryKey: ME })
  cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] })
}

/** Lets in who is signed in or opened a sign-in link; shows everybody else how to sign in. */
function Entrance({ client, headStart, failure }: AppProps) {
  if (failure !== undefined) throw failure
  const cache = useQueryClient()
  const me = useQuery({
    queryKey: ME,
    queryFn: ({ signal }) => headStart.enter(signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

  useEffect(() => {
    // The address of a page that is open can change to a link's without loading it again.
    const onLink = () => hasSignInLink() && enterAnew(cache)
    window.addEventListener('hashchange', onLink)
    const stop = onSignInElsewhere(() => enterAnew(cache))
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
  const { principal, signIn, objectives: keepsObjectives = false, signInNotice } = me.data
  if (location.pathname === SIGN_IN_CALLBACK) {
    return <SignInReturn client={client} onSignIn={(found) => cache.setQueryData(ME, found)} />
  }
  if (principal) return <SignedIn client={client} headStart={headStart} me={principal} signIn={signIn} keepsObjectives={keepsObjectives} />
  return (
    <SignInPage
      way={signIn}
      signInNotice={signInNotice}
      client={client}
      onSignIn={async (key) => {
        cache.setQueryData(ME, await client.signIn(key))
      }}
    />
  )
}

function SignedIn({ client, headStart, me, signIn, keepsObjectives }: Omit<Services, 'inbox'> & { headStart: HeadStart }) {
  // Before a page reads a draft or shows what can be undone.
  useMemo(() => {
    beginDraftsOf(me.id)
    beginStartsOf(me.id)
  }, [me.id])
  const [inbox, setInbox] = useState<InboxStore | undefined>(() => headStart.begunInbox(me.id))
  useEffect(() => {
    const opened = headStart.takeInbox(me.id)
    setInbox(opened)
    return () => opened.close()
  }, [headStart, me.id])
  if (!inbox) return null
  return (
    <ServicesProvider value={{ client, inbox, me, signIn, keepsObjectives }}>
      <LeaveWhenSignedOut inbox={inbox} />
      <FollowRights client={client} inbox={inbox} me={me} />
      <Routes>
        <Route
          element={
            <CommandsProvider>
              <Shell />
            </CommandsProvider>
          }
        >
          {PAGE_PATHS.map((path) => (
            <Route key={path} path={path} element={<PageAt key={path} path={path} />} />
          ))}
          {Object.entries(PAGE_NAMES).map(([name, to]) => (
            <Route key={name} path={name} element={<ToPage to={to} />} />
          ))}
          <Route path="*" element={<NotFoundPage />} />
        </Route>
      </Routes>
    </ServicesProvider>
  )
}

/** People type the name of a page, where its address has another one. */
const PAGE_NAMES = { decided: '/history', inbox: '/waiting' }
const ToPage = ({ to }: { to: string }) => <Navigate replace to={{ pathname: to, search: useLocation().search }} />

/** A sign-in that ended elsewhere shows first on the inbox's stream. */
function LeaveWhenSignedOut({ inbox }: { inbox: InboxStore }) {
  const cache = useQueryClient()
  const code = useInbox(inbox).failure?.code
  useEffect(() => {
    if (code === 'unauthenticated') enterAnew(cache)
  }, [code, cache])
  return null
}

/**
 * Asks what this person may do whenever the inbox's stream is live again: the server ends it when their rights change. What was read with the
 * other rights is read again, and so is what could not be read while the server was away.
 */
function FollowRights({ client, inbox, me }: Pick<Services, 'client' | 'inbox' | 'me'>) {
  const cache = useQueryClient()
  const { connection, resets } = useInbox(inbox)
  const { kind } = connection
  const wasLive = useRef(false)
  const follow = useEffectEvent(async () => {
    // Not a refetch of who is signed in: a failure of that stands in place of the page.
    const found = await cache.fetchQuery({ queryKey: ['rights'], queryFn: ({ signal }) => client.me({ signal }) }).catch(() => undefined)
    if (!found) return
    if (found.principal?.id !== me.id) return enterAnew(cache)
    const before = cache.getQueryData(ME)
    if (cache.setQueryData(ME, found) !== before) void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] })
  })
  useEffect(() => {
    if (kind !== 'live') return
    if (wasLive.current) {
      void follow()
      void cache.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
    }
    wasLive.current = true
  }, [kind, cache])
  // A delegation to this person began or ended.
  useEffect(() => {
    if (resets > 0) void cache.invalidateQueries({ queryKey: ['stands-for'] })
  }, [resets, cache])
  return null
}
