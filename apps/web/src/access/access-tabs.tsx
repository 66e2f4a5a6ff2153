import { NavLink } from 'react-router'
import { useServices } from '../services.tsx'
import { accessPlacesFor } from '../shell/places.ts'
import './access.css'

/** The pages of the area *Access* that this person may use: who may do what, and by which key, delegation or grant. */
export function AccessTabs() {
  const { me } = useServices()
  const places = accessPlacesFor(me)
  if (places.length < 2) return null
  return (
    <nav className="access-tabs" aria-label="Access">
      {places.map(({ to, name }) => (
        <NavLink key={to} to={to} className="access-tab">
          {name}
        </NavLink>
      ))}
    </nav>
  )
}
