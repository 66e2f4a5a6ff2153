import type { PersonDetails } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import type { ReactNode } from 'react'
import { fullTime } from '../time/relative.ts'
import { SIGN_IN_WORDS } from './sign-in-words.ts'

/** Lists a person's keys, agents, console sessions, grants and delegations. Disabling the person ends all of them. */
export function PersonHoldings({ person }: { person: PersonDetails }) {
  const { keys, agents, consoleSessions, grants, delegations } = person
  return (
    <>
      <Holding title="Keys" none="No keys.">
        {keys.map(({ id, name, principal, createdBy, lastUsedAt, acceptedAt }) => (
          <li key={id} className="row-card">
            <p>
              <strong>{showInvisible(name)}</strong>
              {principal.id !== person.id && ` of the ${principal.kind} ${showInvisible(principal.name)}`}
            </p>
            <p className="muted">
              {createdBy === null ? 'made on the server' : `made by ${showInvisible(createdBy.name)}`}
              {principal.kind === 'person' && acceptedAt === null && ' · not accepted: it only reads'}
              {' · '}
              {lastUsedAt === null ? 'not used yet' : `last used ${fullTime(lastUsedAt)}`}
            </p>
          </li>
        ))}
      </Holding>
      <Holding title="Agents and services" none="None.">
        {agents.map(({ id, kind, name }) => (
          <li key={id} className="row-card">
            <p>
              <strong>{showInvisible(name)}</strong> <span className="muted">{kind}</span>
            </p>
          </li>
        ))}
      </Holding>
      <Holding title="Console sessions" none="Not signed in anywhere.">
        {consoleSessions.map(({ id, how, createdAt, seenAt }) => (
          <li key={id} className="row-card">
            <strong>{SIGN_IN_WORDS[how]}</strong>
            <p className="muted">
              Since {fullTime(createdAt)} · last seen {fullTime(seenAt)}
            </p>
          </li>
        ))}
      </Holding>
      <Holding title="Grants" none="They have approved nothing in advance.">
        {grants.map(({ id, tool, agent, expiresAt }) => (
          <li key={id} className="row-card">
            <strong>{tool === null ? 'Everything in one session' : showInvisible(tool)}</strong>
            <p className="muted">
              {agent !== null && `${showInvisible(agent)} · `}until {fullTime(expiresAt)}
            </p>
          </li>
        ))}
      </Holding>
      <Holding title="Delegations" none="Nobody votes for them, and they vote for nobody else.">
        {delegations.map(({ id, from, to, expiresAt }) => (
          <li key={id} className="row-card">
            <p>
              <strong>{showInvisible(to.name)}</strong> in the place of <strong>{showInvisible(from.name)}</strong>
            </p>
            <p className="muted">until {fullTime(expiresAt)}</p>
          </li>
        ))}
      </Holding>
    </>
  )
}

function Holding({ title, none, children }: { title: string; none: string; children: ReactNode[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {children.length === 0 ? <p className="muted">{none}</p> : <ul className="rows">{children}</ul>}
    </section>
  )
}
