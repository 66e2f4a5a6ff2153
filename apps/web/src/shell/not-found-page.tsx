import { Link } from 'react-router'
import { Page } from './page.tsx'

/** The page for any unknown address. */
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
