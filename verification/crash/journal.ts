/** A decision that somebody sent. */
export interface SentDecision {
  actionId: string
  /** Principal id. */
  by: string
  verdict: 'approve' | 'decline'
  /**
   * `accepted`: answered as a success, so it counts from then on. `refused`: answered that another was first. `unanswered`: the connection
   * broke and the client gave up, so it may count or not.
   */
  fate: 'accepted' | 'refused' | 'unanswered'
  /** It also ends the run. */
  stops: boolean
}

/** The requests of a world's clients and the answers they got, to compare with the database. */
export interface Journal {
  decisions: SentDecision[]
  /** Sessions that somebody asked to cancel, answered or not. */
  cancelled: Set<string>
  /** Actions that somebody asked to try again. */
  retried: Set<string>
  /** Actions of which a person said what came of them. */
  resolved: Set<string>
  /** Outside proposals that were answered: the action of each planned call. */
  proposed: Map<string, string>
  /** Sessions, by the name of the planned one. */
  sessions: Map<string, string>
}

export const openJournal = (): Journal => ({
  decisions: [],
  cancelled: new Set(),
  retried: new Set(),
  resolved: new Set(),
  proposed: new Map(),
  sessions: new Map(),
})
