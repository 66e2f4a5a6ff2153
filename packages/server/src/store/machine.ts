import { Client, type ClientConfig } from 'pg'
import { type Clock, systemClock } from '../clock.ts'

/** A connection to the database, as far as a lasting one uses it. */
export type DatabaseClient = Pick<Client, 'connect' | 'query' | 'end' | 'on' | 'once'>

/** What a process takes from the machine that it runs on: time, and a way to the database. A simulation has its own. */
export interface Machine {
  readonly clock: Clock
  /** Milliseconds that nobody can set, from an arbitrary beginning. */
  steadyMs(): number
  /** A connection that is still to be made. */
  newClient(config: ClientConfig): DatabaseClient
}

export const thisMachine: Machine = {
  clock: systemClock,
  steadyMs: () => performance.now(),
  newClient: (config) => new Client(config),
}
