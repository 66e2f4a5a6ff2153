import type { Person } from '../services.tsx'
import type { IconName } from '../ui/index.ts'

export type Place = { to: string; name: string; icon: IconName; isFor: (me: Person, keepsObjectives: boolean) => boolean }

const has = (me: Person, ...roles: string[]): boolean => roles.some((role) => me.roles.includes(role))
const hasRole = (me: Person): boolean => me.roles.length > 0
const isAdmin = (me: Person): boolean => has(me, 'admin')

/** The pages of the area *Access*, which have tabs in place of an entry each. */
const ACCESS: readonly Place[] = [
  { to: '/people', name: 'People', icon: 'user', isFor: isAdmin },
  { to: '/keys', name: 'Keys', icon: 'key', isFor: isAdmin },
  { to: '/delegations', name: 'Delegations', icon: 'refresh', isFor: hasRole },
  { to: '/grants', name: 'Grants', icon: 'check', isFor: hasRole },
]

/** By how often people go there: what happened, the rules and the tools, the rest. */
const PLACES: readonly Place[] = [
  { to: '/sessions', name: 'Sessions', icon: 'chat', isFor: () => true },
  { to: '/history', name: 'Decided', icon: 'check', isFor: () => true },
  { to: '/dashboard', name: 'Dashboard', icon: 'chart', isFor: (me) => has(me, 'admin', 'viewer') },
  { to: '/objectives', name: 'Objectives', icon: 'target', isFor: (me, keepsObjectives) => keepsObjectives && hasRole(me) },
  { to: '/policy', name: 'Policy', icon: 'settings', isFor: hasRole },
  { to: '/tools', name: 'Tools', icon: 'tool', isFor: hasRole },
  { to: '/record', name: 'Record', icon: 'list', isFor: (me) => has(me, 'admin', 'viewer') },
  { to: '/webhooks', name: 'Webhooks', icon: 'signal', isFor: isAdmin },
]

/** The tabs of *Access* that this person may use. The server refuses the others. */
export const accessPlacesFor = (me: Person): readonly Place[] => ACCESS.filter(({ isFor }) => isFor(me, false))

/** The entries of the navigation for this person, besides chat and inbox. `within`: the other pages that belong to an entry. */
export function entriesFor(me: Person, keepsObjectives: boolean): readonly (Place & { within?: readonly string[] })[] {
  const access = accessPlacesFor(me)
  const entry = access[0] && { ...access[0], name: 'Access', icon: 'key' as const, within: access.map(({ to }) => to) }
  const places = PLACES.filter(({ isFor }) => isFor(me, keepsObjectives))
  const at = places.findIndex(({ to }) => to === '/record' || to === '/webhooks')
  const before = at < 0 ? places.length : at
  return entry ? [...places.slice(0, before), entry, ...places.slice(before)] : places
}

/** Every page that this person may use, besides chat and inbox. */
export const placesFor = (me: Person, keepsObjectives: boolean): readonly Place[] => [
  ...PLACES.filter(({ isFor }) => isFor(me, keepsObjectives)),
  ...accessPlacesFor(me),
]
