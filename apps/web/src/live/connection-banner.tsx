import type { ConnectionState } from '@countersign/client'
import { useEffect, useState } from 'react'
import { Notice } from '../ui/index.ts'

/** Shows the state of a broken connection and the time of the next attempt. Renders nothing while the stream is live. */
export function ConnectionBanner({ connection }: { connection: ConnectionState }) {
  if (connection.kind === 'offline') {
    return (
      <div className="connection-banner">
        <Notice tone="warning" testId="connection">
          Offline, decisions paused. What you see may be old.
        </Notice>
      </div>
    )
  }
  if (connection.kind !== 'reconnecting') return null
  return (
    <div className="connection-banner">
      <Notice tone="warning" testId="connection">
        <Countdown key={connection.retryInMs} fromMs={connection.retryInMs} /> · decisions are paused until then
      </Notice>
    </div>
  )
}

function Countdown({ fromMs }: { fromMs: number }) {
  const [leftS, setLeftS] = useState(Math.ceil(fromMs / 1_000))
  useEffect(() => {
    const timer = setInterval(() => setLeftS((left) => Math.max(0, left - 1)), 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      Reconnecting… <span className="countdown">{leftS} s</span>
    </>
  )
}
