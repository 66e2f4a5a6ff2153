/** The times that a connection keeps. Tests shorten them. */
export interface Pace {
  /** How long a call waits for a connection that is being made, and for each answer to a ping before a write. */
  patienceMs: number
}

export const PACE: Pace = { patienceMs: 5_000 }
