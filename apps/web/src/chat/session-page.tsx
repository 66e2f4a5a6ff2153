import {
  type Action,
  type Actions,
  openSession,
  type SessionSnapshot,
  type SessionStore,
  type ShownAction,
  type Store,
} from '@countersign/client'
import { eventsWhileSeen, showInvisible, useStore } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, NavigationType, useLocation, useNavigationType, useParams } from 'react-router'
import { keepRequest, readRequest } from '../drafts.ts'
import { errorText } from '../errors.ts'
import { ConnectionBanner } from '../live/connection-banner.tsx'
import { useShareActions } from '../live/open-actions.ts'
import { useConnection } from '../live/use-connection.ts'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { noteSession } from '../shell/use-sessions.ts'
import { SessionStatus } from '../status/session-status.tsx'
import { Button, Notice, Skeleton } from '../ui/index.ts'
import './chat.css'
import { Composer } from './composer.tsx'
import { type ConversationHandle, ConversationView } from './conversation-view.tsx'
import { Participants } from './participants.tsx'
import { SessionTools, TitleForm } from './session-tools.tsx'
import { ShownCardsContext, useShownCards } from './shown-cards.tsx'
import { WaitingBanner } from './waiting-banner.tsx'

/** About three screens of a large monitor. */
const PAGE_MESSAGES = 50

/** Before the stream is opened. */
const UNOPENED: Store<SessionSnapshot | null> = { get: () => null, subscribe: () => () => undefined, close: () => undefined }
const NO_ACTIONS: Actions = {}

/** `/sessions/:id`: one chat, live. */
export default function SessionPage() {
  const { sessionId = '' } = useParams()
  return <OpenSession key={sessionId} sessionId={sessionId} />
}

function OpenSession({ sessionId }: { sessionId: string }) {
  const { client } = useServices()
  const [store, setStore] = useState<SessionStore | null>(null)
  const [attempt, setAttempt] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: an attempt opens the stream anew
  useEffect(() => {
    const opened = openSession(client, sessionId, { pageSize: PAGE_MESSAGES, follow: eventsWhileSeen })
    setStore(opened)
    return () => opened.close()
  }, [client, sessionId, attempt])

  return <Chat store={store} sessionId={sessionId} onAgain={() => setAttempt(attempt + 1)} />
}

function Chat({ store, sessionId, onAgain }: { store: SessionStore | null; sessionId: string; onAgain: () => void }) {
  const { me } = useServices()
  const snapshot = useStore(store ?? UNOPENED)
  const session = snapshot?.session ?? null
  useShareActions(snapshot?.actions ?? NO_ACTIONS)
  useListedSession(snapshot)
  // The first message was written on the previous page, so the focus stays in the message field, except after a reload.
  const cameByPush = useNavigationType() === NavigationType.Push
  const startsHere = useLocation().state?.isFresh === true && cameByPush

  const [isRenaming, setRenaming] = useState(false)
  const renameButton = useRef<HTMLButtonElement>(null)
  const endRenaming = (isElsewhere: boolean) => {
    setRenaming(false)
    if (!isElsewhere) renameButton.current?.focus()
  }

  if (snapshot?.failure && (!session || snapshot.failure.code === 'not_found')) return <FailedChat snapshot={snapshot} onAgain={onAgain} />
  const isOwner = session !== null && (session.owner.id === me.id || session.owner.personId === me.id)
  const isHost = session !== null && (isOwner || me.roles.includes('admin'))
  const title = session?.title || 'Untitled'
  // One page, loading and loaded: another one would draw the bar anew, and a press on one of its buttons at that moment does nothing.
  return (
    <Page
      title={session ? title : 'Loading…'}
      isLoading={!session}
      subtitle={session && <span data-testid="agent-name">{showInvisible(session.agent)}</span>}
      status={
        session &&
        snapshot && (
          <>
            <SessionStatus status={session.status} pending={pendingIn(snapshot)} unknown={countUnknown(snapshot)} />
            <span className="bar-actions">
              <Link className="bar-action" to={`/sessions/${sessionId}/timeline`}>
                Timeline
              </Link>
            </span>
            {isHost && <SessionTools sessionId={sessionId} title={title} renameButton={renameButton} onRename={() => setRenaming(true)} />}
          </>
        )
      }
      headingForm={isRenaming && session && <TitleForm sessionId={sessionId} title={session.title} onClose={endRenaming} />}
      onHeadingDoubleClick={isHost ? () => setRenaming(true) : undefined}
      focusHeading={!startsHere}
      layout="fill"
    >
      {store && snapshot && session ? (
        <LoadedChat
          snapshot={snapshot}
          session={session}
          sessionId={sessionId}
          isOwner={isOwner}
          isHost={isHost}
          startsHere={startsHere}
          onAgain={onAgain}
          onOlder={store.loadOlder}
        />
      ) : (
        <LoadingChat />
      )}
    </Page>
  )
}

/** Keeps this session's row in the sidebar as current as the page itself. */
function useListedSession(snapshot: SessionSnapshot | null) {
  const session = snapshot?.session
  const lastSeq = snapshot?.lastSeq ?? 0
  const queries = useQueryClient()
  const status = session?.status
  const pending = snapshot ? pendingIn(snapshot) : []
  const unknownOutcomes = snapshot ? countUnknown(snapshot) : 0
  const waiting = pending.map(({ id, overdue }) => `${id} ${overdue}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what the row shows is worth a write
  useEffect(() => {
    if (!session) return
    noteSession(queries, { ...session, lastSeq, pendingApprovals: pending, unknownOutcomes })
  }, [session?.id, session?.title, status, waiting, unknownOutcomes, queries])
}

/** The actions of the session that wait for a decision, oldest first. */
const pendingIn = ({ pendingApprovals, actions }: SessionSnapshot): Action[] => pendingApprovals.flatMap((id) => actions[id] ?? [])

const countUnknown = ({ actions }: SessionSnapshot): number =>
  Object.values(actions).filter(({ state }) => state === 'outcome_unknown').length

type LoadedChatProps = {
  snapshot: SessionSnapshot
  session: NonNullable<SessionSnapshot['session']>
  sessionId: string
  isOwner: boolean
  /** An owner or an admin: they rename, delete and invite. */
  isHost: boolean
  /** The chat was begun on the previous page. */
  startsHere: boolean
  onAgain: () => void
  onOlder: () => Promise<void>
}

function LoadedChat({ snapshot, session, sessionId, isOwner, isHost, startsHere, onAgain, onOlder }: LoadedChatProps) {
  const { client, me } = useServices()
  const { owner, participants } = session
  const mayWrite = isOwner || participants.some(({ id }) => id === me.id)
  const connection = useConnection(snapshot.connection)
  const conversation = useRef<ConversationHandle>(null)
  const pending = pendingIn(snapshot)
  const isBusy = session.status === 'active' || session.status === 'waiting_approval'

  const shownCards = useShownCards()

  async function send(text: string, idempotencyKey: string) {
    // The key of the last message, and the cards on the screen when it was first sent. A retry sends both again, so it is the same request.
    const name = `${sessionId}.shown`
    const last = readRequest<{ idempotencyKey: string; shown: ShownAction[] }>(name)
    const options = last?.idempotencyKey === idempotencyKey ? last : { idempotencyKey, shown: shownCards.list() }
    keepRequest(name, options)
    await client.sessions.post(sessionId, text, options)
    keepRequest(name, undefined)
    conversation.current?.toEnd()
  }

  return (
    <>
      <ShownCardsContext value={shownCards}>
        <ConversationView ref={conversation} snapshot={snapshot} agent={session.agent} onOlder={onOlder} />
      </ShownCardsContext>
      <div className="chat-foot">
        <div>
          <ConnectionBanner connection={connection} />
          {snapshot.failure && (
            <Notice tone="error" action={<Button onClick={onAgain}>Connect again</Button>}>
              This page no longer follows the session. {errorText(snapshot.failure)}
            </Notice>
          )}
          <Participants sessionId={sessionId} people={session} isHost={isHost} />
          <WaitingBanner waiting={pending} onShow={() => conversation.current?.toFirstWaiting()} />
          <Composer
            draftOf={sessionId}
            onSend={send}
            blocked={
              connection.kind === 'offline'
                ? 'Offline. You can keep writing and send once the network is back.'
                : mayWrite || snapshot.pendingApprovals.length > 0
                  ? undefined
                  : READ_ONLY(owner.name)
            }
            placeholder={`Message ${showInvisible(session.agent)}`}
            hint={
              !mayWrite
                ? `You may approve or decline here. ${READ_ONLY(owner.name)}`
                : isBusy
                  ? 'A message sent now is queued until the run has ended; approve and decline act at once.'
                  : undefined
            }
            autoFocus={startsHere}
            onStop={isBusy ? async () => void (await client.sessions.cancel(sessionId)) : undefined}
          />
        </div>
      </div>
    </>
  )
}

/** Why somebody who sees a session cannot write in it, and what to do. */
const READ_ONLY = (owner: string): string =>
  `You may read this session. To write in it, ask ${showInvisible(owner)}, who owns it, or an admin to invite you.`

function FailedChat({ snapshot, onAgain }: { snapshot: SessionSnapshot; onAgain: () => void }) {
  const isMissing = snapshot.failure?.code === 'not_found'
  const wasHere = snapshot.session !== null
  return (
    <Page title={wasHere ? 'Session unavailable' : isMissing ? 'Session not found' : 'Session'}>
      <div className="empty" role="alert">
        <h2>
          {wasHere
            ? 'This session was deleted, or you no longer have access to it.'
            : isMissing
              ? 'This session does not exist, or you do not have access to it.'
              : 'The session could not be loaded.'}
        </h2>
        <p>{snapshot.failure && errorText(snapshot.failure)}</p>
        <Button variant="outlined" onClick={onAgain}>
          Try again
        </Button>
      </div>
    </Page>
  )
}

function LoadingChat() {
  return (
    <>
      <div className="conversation" aria-busy="true">
        <div className="conversation-rows">
          <Skeleton className="skeleton-user" height={44} width="55%" />
          <Skeleton height={96} />
          <Skeleton height={220} />
        </div>
      </div>
      <div className="chat-foot">
        <div>
          <Skeleton height={78} />
        </div>
      </div>
    </>
  )
}
