/** The times that a connection keeps. Tests shorten them. */
export interface Pace {
  /** How long a call waits for a connection that is being made, and for each answer to a ping before a write. */
  patienceMs: number
  /**
   * How often the tools of a server are listed over HTTP without a notice of it. No notice comes from a server that was deployed anew or
   * whose stream a proxy has cut, so this is how long a changed tool may go unnoticed. A list a minute is little work for any server.
   */
  relistMs: number
  /** How long a program has to answer a question of the newer protocol: one that says nothing speaks the older one, or is still starting. */
  probeMs: number
}

export const PACE: Pace = { patienceMs: 5_000, relistMs: 60_000, probeMs: 3_000 }
