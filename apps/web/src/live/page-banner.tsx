import { useInbox } from '@countersign/react'
import { useServices } from '../services.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { useConnection } from './use-connection.ts'

/** Says on pages without a stream of their own that the server is out of reach: what they show may be old. */
export function PageBanner() {
  const { inbox } = useServices()
  return <ConnectionBanner connection={useConnection(useInbox(inbox).connection)} />
}
