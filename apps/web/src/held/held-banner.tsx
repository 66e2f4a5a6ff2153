import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { Notice } from '../ui/index.ts'
import { useHold } from './use-hold.ts'

/** Shows on every page that the server is on hold and why. Renders nothing otherwise. */
export function HeldBanner() {
  const { data } = useHold()
  if (!data?.held) return null
  return (
    <div className="held-banner">
      <Notice tone="warning" testId="held" action={<Link to="/held">What is held</Link>}>
        This looks like a copy. Nothing is carried out here. {showInvisible(data.why ?? '')}
      </Notice>
    </div>
  )
}
