import { Link, NavLink, useLocation } from 'react-router'
import { useWaiting } from '../live/use-waiting.ts'
import { alarmsOf, alarmText } from '../live/waiting-words.ts'
import mark from '../ui/countersign.svg'
import { Icon } from '../ui/index.ts'
import { NavLinks } from './nav-links.tsx'
import { SessionList } from './session-list.tsx'

/** Shows the links to a new chat and the inbox, and the list of sessions. */
export function Sidebar({ onPick }: { onPick: () => void }) {
  const { forMe } = useWaiting()
  const alarms = alarmsOf(forMe, true)
  const { pathname } = useLocation()
  return (
    <nav className="sidebar" aria-label="Console">
      <Link to="/" className="brand" onClick={onPick}>
        <img src={mark} alt="" width={22} height={22} />
        Countersign
      </Link>
      <Link
        to="/"
        className="button new-chat"
        data-variant="outlined"
        aria-current={pathname === '/' ? 'page' : undefined}
        onClick={onPick}
      >
        <Icon name="plus" />
        New chat
      </Link>
      <NavLink to="/waiting" className="nav-link" onClick={onPick} data-testid="waiting-link">
        <Icon name="inbox" />
        Inbox
        {alarms.length > 0 && (
          <span className="nav-note" title={alarmText(forMe)} data-testid="waiting-alarms">
            {alarms.map((alarm) => (
              <span key={alarm}>{alarm} </span>
            ))}
          </span>
        )}
        {forMe.count > 0 && (
          <span className="badge" data-testid="waiting-count">
            {forMe.count}
            <span className="visually-hidden"> for you</span>
          </span>
        )}
      </NavLink>
      <NavLinks onPick={onPick} />
      <h2 className="sidebar-heading">Sessions</h2>
      <div className="sidebar-scroll">
        <SessionList onPick={onPick} />
      </div>
    </nav>
  )
}
