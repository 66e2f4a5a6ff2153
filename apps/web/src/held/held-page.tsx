import type { Action, HoldView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { Page } from '../shell/page.tsx'
import { Button, Failure, Loaded } from '../ui/index.ts'
import '../ui/pages.css'
import { HOLD, useHold } from './use-hold.ts'
import { usePage } from './use-page.ts'

const HELD_ACTIONS = ['held-actions']
const STATES = 'proposed,approved,executing,outcome_unknown'

/** Reloads the list of held actions and their count. */
const readAgain = (queries: QueryClient) => Promise.all([HOLD, HELD_ACTIONS].map((queryKey) => queries.invalidateQueries({ queryKey })))

const WORDS: Partial<Record<Action['state'], string>> = {
  proposed: 'Waiting for a decision',
  approved: 'Approved, not started',
  executing: 'Was running',
  outcome_unknown: 'Outcome unknown',
}

/** `/held`: lists the actions held because the database looks like a copy, with the ways to resolve them. */
export default function HeldPage() {
  const { client } = useServices()
  const queries = useQueryClient()
  const hold = useHold()
  const held = usePage(HELD_ACTIONS, (cursor, signal) => client.actions.list({ state: STATES, cursor }, { signal }))
  const [accepting, setAccepting] = useState(false)
  const online = useOnline()
  const isHeld = hold.data?.held === true
  async function accept() {
    await client.hold.accept()
    // Not awaited: with the new counts, the open dialog would tell what is no longer true.
    void readAgain(queries)
  }
  return (
    <Page title="Held" subtitle={isHeld ? 'This looks like a copy' : 'Nothing is held'}>
      <div className="stack">
        {isHeld && (
          <>
            <p>
              The original may have carried out what is listed here. Void what it has done or what nobody wants, say what came of what was
              under way, and accept the copy when the rest may go on.
            </p>
            <InForce />
            <p>
              <Button variant="contained" disabled={!online} onClick={() => setAccepting(true)}>
                Accept this copy
              </Button>
            </p>
          </>
        )}
        <Pages {...held} counts={openWords(hold.data)} />
        <Loaded of={held.query} height={200}>
          {({ items }) =>
            items.length === 0 && held.number > 1 ? (
              <p>Nothing on this page is open any more.</p>
            ) : (
              <ul className="rows" aria-label="Open actions">
                {items.map((action) => (
                  <HeldRow key={action.id} action={action} isHeld={isHeld} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
      {accepting && (
        <Confirmation title="Accept this copy?" action="Accept" onConfirm={accept} onClose={() => setAccepting(false)}>
          <p>{hold.data?.open ? acceptanceWords(hold.data.open) : 'Everything approved that was not voided may start now.'}</p>
          <p>Agents at work go on. Make sure that the original does not run any more.</p>
        </Confirmation>
      )}
    </Page>
  )
}

/** Says which policy and roles apply once something goes on: they are as old as the copy. */
function InForce() {
  const { client, me } = useServices()
  const policy = useQuery({
    queryKey: ['held', 'policy'],
    enabled: me.roles.length > 0,
    queryFn: ({ signal }) => client.policy.get({ signal }),
  })
  return (
    <p>
      What goes on here follows the <Link to="/policy">policy</Link>
      {policy.data && ` (version ${policy.data.version})`} and the roles of this copy, which may be older than those of the original.
    </p>
  )
}

/** Returns how many actions are open, in words; undefined when this person may not see all of them. */
function openWords(hold: HoldView | undefined): string | undefined {
  if (!hold?.open) return undefined
  const { approved, executing, waiting, outcomeUnknown } = hold.open
  const sum = approved + executing + waiting + outcomeUnknown
  const parts = [
    approved > 0 && `${approved} approved`,
    waiting > 0 && `${waiting} waiting`,
    executing > 0 && `${executing} under way`,
    outcomeUnknown > 0 && `${outcomeUnknown} with an unknown outcome`,
  ].filter((part) => part !== false)
  return `${sum === 1 ? '1 action is open' : `${sum} actions are open`}${sum === 0 ? '' : `: ${parts.join(', ')}`}`
}

/** Returns what happens to the open actions when the copy is accepted. */
function acceptanceWords({ approved, executing, waiting }: NonNullable<HoldView['open']>): string {
  const start =
    approved === 0 ? 'No action is approved' : approved === 1 ? '1 approved action may start' : `${approved} approved actions may start`
  const underWay = executing === 0 ? '' : ` The outcome of ${executing} that ${executing === 1 ? 'was' : 'were'} under way becomes unknown.`
  const decide = waiting === 0 ? '' : ` ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for a decision.`
  return `${start}.${underWay}${decide}`
}

interface PagesProps {
  number: number
  counts: string | undefined
  onNext: (() => void) | undefined
  onPrevious: (() => void) | undefined
}

/** Shows the number of open actions and the page buttons, above the list so that they do not move. */
function Pages({ number, counts, onNext, onPrevious }: PagesProps) {
  return (
    <nav className="row-head" aria-label="Pages of open actions">
      {counts !== undefined && <span>{counts}</span>}
      {(onNext || onPrevious || number > 1) && (
        <>
          <Button variant="outlined" disabled={!onPrevious} onClick={onPrevious}>
            Previous page
          </Button>
          <span aria-live="polite">Page {number}</span>
          <Button variant="outlined" disabled={!onNext} onClick={onNext}>
            Next page
          </Button>
        </>
      )}
    </nav>
  )
}

type Verdict = 'release' | 'void' | 'done' | 'not done'

function HeldRow({ action, isHeld }: { action: Action; isHeld: boolean }) {
  const { client } = useServices()
  const queries = useQueryClient()
  const online = useOnline()
  const [note, setNote] = useState('')
  const { id, state, description, attempt } = action
  const say = useMutation({
    mutationFn: (verdict: Verdict): Promise<Action> => {
      if (verdict === 'release') return client.hold.release(id)
      if (verdict === 'void') return client.hold.void(id, note)
      return client.actions.resolve(id, { outcome: verdict === 'done' ? 'succeeded' : 'failed', note, attempt })
    },
    onSuccess: () => readAgain(queries),
  })
  const wasStarted = state === 'executing' || state === 'outcome_unknown'
  const name = showInvisible(description)
  const button = (verdict: Verdict, label: string) => (
    <Button
      variant="outlined"
      aria-label={`${label}: ${name}`}
      disabled={!online || say.isPending || (verdict !== 'release' && note.trim() === '')}
      onClick={() => say.mutate(verdict)}
    >
      {label}
    </Button>
  )
  return (
    <li className="row-card" data-testid="held-action" data-state={state}>
      <div className="row-head">
        <Link to={`/actions/${id}`}>{name}</Link>
        <span className="badge-text">{WORDS[state]}</span>
      </div>
      {isHeld && (
        <>
          <label>
            Note <input value={note} maxLength={2_000} aria-label={`Note: ${name}`} onChange={({ target }) => setNote(target.value)} />
          </label>
          <div className="row-head">
            {state === 'approved' && button('release', 'Release')}
            {wasStarted ? (
              <>
                {button('done', 'Mark as done')}
                {button('not done', 'Mark as not done')}
              </>
            ) : (
              button('void', 'Void')
            )}
          </div>
        </>
      )}
      <Failure of={say.error} />
    </li>
  )
}
