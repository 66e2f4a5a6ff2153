import type { Client, ClientConfig } from 'pg'
import { type Clock, systemClock } from '../clock.ts'
import { pg } from './postgres/driver.ts'

/** A connection to the database, with the functions that a permanent one needs. */
export type DatabaseClient = Pick<Client, 'connect' | 'query' | 'end' | 'on' | 'once'>

/** The services of the machine that a process uses: time, and a connection to the database. A simulation has its own. */
export interface Machine {
  readonly clock: Clock
  /** Monotonic milliseconds from an arbitrary beginning. */
  steadyMs(): number
  /** Creates a connection that is not open yet. */
  newClient(config: ClientConfig): DatabaseClient
}

export const thisMachine: Machine = {
  clock: systemClock,
  steadyMs: () => performance.now(),
  newClient: (config) => new (pg().Client)(config),
}
