import { Link } from 'react-router'
import { Page } from './page.tsx'

/** Any address that is none of ours. */
export function NotFoundPage() {
  return (
    <Page title="No such page">
      <div className="empty">
        <h2>There is nothing at this address</h2>
        <p>
          <Link to="/">Start a chat</Link> or see <Link to="/waiting">what waits</Link>.
        </p>
      </div>
    </Page>
  )
}
