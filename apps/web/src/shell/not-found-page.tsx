import { Link } from 'react-router'
import { Page } from './page.tsx'

/** The page for any unknown address. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <div className="empty">
        <h2>This address does not exist</h2>
        <p>
          <Link to="/">Start a chat</Link> or see <Link to="/waiting">what waits</Link>.
        </p>
      </div>
    </Page>
  )
}
