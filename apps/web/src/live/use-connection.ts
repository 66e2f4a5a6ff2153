import type { ConnectionState } from '@countersign/client'
import { useOnline } from './use-online.ts'

const OFFLINE: ConnectionState = { kind: 'offline' }

/** A stream's state, with the browser's own word first: it knows at once, the stream only after a silence. */
export function useConnection(stream: ConnectionState): ConnectionState {
  return useOnline() ? stream : OFFLINE
}
