import { NavLink } from 'react-router'
import { type Person, useServices } from '../services.tsx'
import { Icon, type IconName } from '../ui/index.ts'

type Place = { to: string; name: string; icon: IconName; isFor: (me: Person, keepsObjectives: boolean) => boolean }

const has = (me: Person, ...roles: string[]): boolean => roles.some((role) => me.roles.includes(role))

const PLACES: readonly Place[] = [
  { to: '/history', name: 'Decided', icon: 'check', isFor: () => true },
  { to: '/dashboard', name: 'Dashboard', icon: 'target', isFor: (me) => has(me, 'admin', 'viewer') },
  { to: '/objectives', name: 'Objectives', icon: 'target', isFor: (me, keepsObjectives) => keepsObjectives && me.roles.length > 0 },
  { to: '/policy', name: 'Policy', icon: 'settings', isFor: (me) => me.roles.length > 0 },
  { to: '/grants', name: 'Grants', icon: 'check', isFor: (me) => me.roles.length > 0 },
  { to: '/delegations', name: 'Delegations', icon: 'refresh', isFor: (me) => me.roles.length > 0 },
  { to: '/record', name: 'Record', icon: 'clock', isFor: (me) => has(me, 'admin', 'viewer') },
  { to: '/people', name: 'People', icon: 'user', isFor: (me) => has(me, 'admin') },
  { to: '/keys', name: 'Keys', icon: 'user', isFor: (me) => has(me, 'admin') },
  { to: '/webhooks', name: 'Webhooks', icon: 'settings', isFor: (me) => has(me, 'admin') },
]

/** The pages that this person may use, besides chat and inbox. */
export const placesFor = (me: Person, keepsObjectives: boolean): readonly Place[] =>
  PLACES.filter(({ isFor }) => isFor(me, keepsObjectives))

/** Links to the pages that this person may use, besides chat and inbox. The server refuses the others. */
export function NavLinks({ onPick }: { onPick: () => void }) {
  const { me, keepsObjectives } = useServices()
  return placesFor(me, keepsObjectives).map(({ to, name, icon }) => (
    <NavLink key={to} to={to} className="nav-link" onClick={onPick}>
      <Icon name={icon} />
      {name}
    </NavLink>
  ))
}
