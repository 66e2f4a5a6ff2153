/** A vote that somebody sent. */
export interface SentVote {
  actionId: string
  what: string
  /** Principal id. */
  by: string
  verdict: 'approve' | 'decline'
  revision: number
  /** Canonical JSON of the arguments that were approved instead. */
  edit: string | undefined
  /**
   * `accepted`: answered as a success, so it counts from then on. `refused`: answered that it does not count. `unanswered`: a try
   * was lost, and the client gave up or its repeat was refused, so the vote may count or not.
   */
  fate: 'accepted' | 'refused' | 'unanswered'
}

/** The final answer to the gateway's client. */
export interface GatewayAnswer {
  what: string
  actionId: string
  state: string
  /** The client named its call. */
  isNamed: boolean
}

/** The requests of a world's clients and the answers they got. A person's votes on one action never overlap. */
export interface Journal {
  votes: SentVote[]
  gateway: GatewayAnswer[]
  /** Calls that were proposed after somebody had been told that the grant was revoked: the grant of each. */
  afterRevoke: Map<string, string>
  /** How many calls each grant was to allow, by the action that it was made with. */
  uses: Map<string, number>
}

export const openJournal = (): Journal => ({ votes: [], gateway: [], afterRevoke: new Map(), uses: new Map() })
