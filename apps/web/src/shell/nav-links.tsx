import { Link, useLocation } from 'react-router'
import { useServices } from '../services.tsx'
import { Icon } from '../ui/index.ts'
import { entriesFor } from './places.ts'

const isWithin = (pathname: string, to: string): boolean => pathname === to || pathname.startsWith(`${to}/`)

/** Links to the pages that this person may use, besides chat and inbox. The server refuses the others. */
export function NavLinks({ onPick }: { onPick: () => void }) {
  const { me, keepsObjectives } = useServices()
  const { pathname } = useLocation()
  return entriesFor(me, keepsObjectives).map(({ to, name, icon, within = [to] }) => (
    <Link
      key={to}
      to={to}
      className="nav-link"
      aria-current={within.some((place) => isWithin(pathname, place)) ? 'page' : undefined}
      onClick={onPick}
    >
      <Icon name={icon} />
      {name}
    </Link>
  ))
}
