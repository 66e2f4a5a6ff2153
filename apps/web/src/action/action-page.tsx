import { type Action, isApiError } from '@countersign/client'
import { STATE_WORDS, showInvisible, showLines, useInbox } from '@countersign/react'
import { useQueryClient } from '@tanstack/react-query'
import { useLayoutEffect } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { AssignButton } from '../assign/assign-button.tsx'
import { RawJson } from '../chat/raw-json.tsx'
import { errorText } from '../errors.ts'
import { ConnectionBanner } from '../live/connection-banner.tsx'
import { useConnection } from '../live/use-connection.ts'
import { isLayerOpen, isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { SeenLine } from '../seen/seen-line.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { SnoozeButton } from '../snooze/snooze-button.tsx'
import { Story } from '../story/story.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Fact, Skeleton } from '../ui/index.ts'
import { askedText } from '../waiting/row-words.ts'
import { ActionCard } from './action-card.tsx'
import './action.css'
import '../ui/pages.css'
import { NO_RULE } from '../policy/no-rule.ts'
import { OtherTasks } from './other-tasks.tsx'
import { Revisions } from './revisions.tsx'
import { useAction } from './use-action.ts'
import { whyVoid } from './why-void.ts'

/** `/actions/:id`: one action with everything that is known about it. */
export default function ActionPage() {
  const { actionId = '' } = useParams()
  const { inbox } = useServices()
  const connection = useConnection(useInbox(inbox).connection)
  const queries = useQueryClient()
  const { action, isPending, error, refetch } = useAction(actionId)

  if (!action) {
    if (isPending) {
      return (
        <Page title="Action" focusHeading={false}>
          <div className="action-page" aria-busy="true">
            <Skeleton height={320} />
            <Skeleton height={200} />
          </div>
        </Page>
      )
    }
    const isMissing = isApiError(error) && error.code === 'not_found'
    return (
      <Page title={isMissing ? 'Action not found' : 'Action'}>
        <div className="empty" role="alert">
          <h2>{isMissing ? 'This action does not exist, or you do not have access to it.' : 'The action could not be loaded.'}</h2>
          <p>{errorText(error)}</p>
          <Button variant="outlined" onClick={() => refetch()}>
            Try again
          </Button>
        </div>
      </Page>
    )
  }

  const take = (changed: Action) => queries.setQueryData(['action', actionId], changed)
  return (
    <Page title={`Action #${action.id.slice(-6)}`} subtitle={<span className="mono">{showInvisible(action.tool)}</span>}>
      <div className="action-page" data-testid="action-page">
        <ConnectionBanner connection={connection} />
        <div className="action-tasks">
          <BackToInbox />
          <AssignButton action={action} className="action-task" />
          <SnoozeButton action={action} className="action-task" />
          <OtherTasks action={action} onChange={take} />
        </div>
        <SeenLine action={action} />
        <ActionCard action={action} connection={connection} onSettled={take} />
        <Story action={action} />
        <section aria-labelledby="votes-title">
          <h2 id="votes-title">Votes</h2>
          {action.votes.length === 0 ? (
            <p className="muted">Nobody has voted. {action.requires.quorum > 1 && `${action.requires.quorum} approvals are needed.`}</p>
          ) : (
            <ul className="votes">
              {action.votes.map((vote) => (
                <li key={`${vote.by.id} ${vote.at}`} data-testid="vote">
                  <strong>{showInvisible(vote.by.name)}</strong> {vote.verdict === 'approve' ? 'approved' : 'declined'}{' '}
                  {vote.for && `for ${showInvisible(vote.for.name)} `}
                  <time className="muted" dateTime={vote.at}>
                    {fullTime(vote.at)}
                  </time>
                  {vote.counts === false && <p>{whyVoid(vote, action)}</p>}
                  {vote.reason && <p className="plain-text">{showLines(vote.reason)}</p>}
                </li>
              ))}
            </ul>
          )}
        </section>
        <Revisions action={action} />
        <section aria-labelledby="facts-title">
          <h2 id="facts-title">Details</h2>
          <dl className="facts">
            <Fact name="State">{STATE_WORDS[action.state].word}</Fact>
            <Fact name="Attempts">{action.attempt}</Fact>
            {action.error && (
              <Fact name="Last error">
                {showInvisible(action.error.message)} ({showInvisible(action.error.kind)})
              </Fact>
            )}
            {action.checks && (
              <Fact name="Checks">
                {`${action.checks.ended ? 'No longer checking: checked' : 'Checking'} from ${fullTime(action.checks.since)} until ${fullTime(action.checks.until)}`}
                {action.checks.lastAt &&
                  `, last ${action.checks.lastFound === 'not_found' ? 'not found' : 'without an answer'} at ${fullTime(action.checks.lastAt)}`}
              </Fact>
            )}
            <Fact name="Asked by">{askedText(action)}</Fact>
            <Fact name="Session">
              {action.sessionId ? <Link to={`/sessions/${action.sessionId}`}>Open the chat</Link> : 'None: proposed over the API'}
            </Fact>
            <Fact name="Policy">
              {action.policy.rule === 'default' ? NO_RULE : showInvisible(action.policy.rule)}, version {action.policy.version}
            </Fact>
            <Fact name="Proposed">
              <time dateTime={action.createdAt}>{fullTime(action.createdAt)}</time>
            </Fact>
            <Fact name="Changed">
              <time dateTime={action.updatedAt}>{fullTime(action.updatedAt)}</time>
            </Fact>
            {action.expiresAt && (
              <Fact name="Expires">
                <time dateTime={action.expiresAt}>{fullTime(action.expiresAt)}</time>
              </Fact>
            )}
            <Fact name="Runs at">{action.executor === 'client' ? 'The client that asked' : showInvisible(action.destination)}</Fact>
            {action.credential !== 'none' && <Fact name="With the rights of">{showInvisible(action.credential)}</Fact>}
            <Fact name="Revision">{action.revision}</Fact>
            <Fact name="Digest">
              <span className="mono">{action.digest}</span>
            </Fact>
            <Fact name="Idempotency key">
              <span className="mono">{showInvisible(action.idempotencyKey)}</span>
            </Fact>
            <Fact name="Id">
              <span className="mono">{action.id}</span>
            </Fact>
          </dl>
        </section>
        <section aria-labelledby="raw-title">
          <h2 id="raw-title">Raw</h2>
          <details className="raw-details">
            <summary>The action as stored on the server</summary>
            <RawJson label="Action" value={action} />
          </details>
        </section>
      </div>
    </Page>
  )
}

/** For who came from the inbox: the way back to their view of it, which Escape goes too. */
function BackToInbox() {
  const { state } = useLocation()
  const navigate = useNavigate()
  const [shortcuts] = useShortcuts()
  const search: unknown = state?.inbox
  const isFromInbox = typeof search === 'string'
  useLayoutEffect(() => {
    if (!isFromInbox || !shortcuts) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isTyping(event.target) || isLayerOpen()) return
      event.preventDefault()
      navigate(`/waiting${search}`)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [isFromInbox, search, shortcuts, navigate])
  if (!isFromInbox) return null
  return (
    <Link to={`/waiting${search}`} className="back-to-inbox">
      Back to the inbox
    </Link>
  )
}
