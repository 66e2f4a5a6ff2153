/** The kinds of call in this campaign: ways to decide, ways in, and sources of tools. */
export const KINDS = [
  ...['quorum', 'edit', 'grant', 'delegation', 'gateway'],
  ...['github', 'linear', 'openapi', 'workspace', 'objectives'],
] as const satisfies readonly string[]
export type Kind = 'quorum' | 'edit' | 'grant' | 'delegation' | 'gateway' | 'github' | 'linear' | 'openapi' | 'workspace' | 'objectives'

/**
 * How far an action is when its server dies: people decide it; it has begun and nothing was sent; the target has the request and has not
 * acted; the target has acted and not answered; the answer is there and not stored.
 */
export const PHASES = ['deciding', 'before send', 'sent', 'after effect', 'before settle'] as const
export type Phase = (typeof PHASES)[number]

/** How a server is killed in a phase: at one of these points, or while a target holds a request. */
export type Way = { points: readonly string[] } | { held: 'sent' | 'acted' }

const DECIDING = ['decide.before_store', 'decide.storing', 'decide.after_store']
const EDITING = ['edit.before_read', 'edit.before_store', 'edit.storing', 'edit.after_store', 'revise.storing']
const BEGUN = ['execute.started', 'execute.before_send']
const SETTLING = ['settle.before_store', 'settle.storing']

/** Kinds whose effect is on our own disk: no target can hold their request. */
export const LOCAL: ReadonlySet<Kind> = new Set<Kind>(['workspace', 'objectives'])

const LOCALLY: Partial<Record<Kind, readonly string[]>> = { workspace: ['workspace.before_replace'], objectives: ['objectives.storing'] }
const DECIDED: Partial<Record<Kind, readonly string[]>> = {
  edit: [...EDITING, 'decide.storing'],
  grant: [...DECIDING, 'propose.storing', 'propose.after_store'],
  gateway: [...DECIDING, 'propose.storing', 'propose.after_store'],
}

export function wayTo(kind: Kind, phase: Phase): Way {
  const local = LOCALLY[kind]
  switch (phase) {
    case 'deciding':
      return { points: DECIDED[kind] ?? DECIDING }
    case 'before send':
      return { points: BEGUN }
    case 'sent':
      return local ? { points: local } : { held: 'sent' }
    case 'after effect':
      return local ? { points: ['execute.answered'] } : { held: 'acted' }
    case 'before settle':
      return { points: local ? SETTLING : ['execute.answered', ...SETTLING] }
  }
}

/** The phase that a server died in when it died at a point, where the actions under way were of one kind. */
export const phaseAt = (kind: Kind, point: string): Phase | undefined =>
  PHASES.find((phase) => {
    const way = wayTo(kind, phase)
    return 'points' in way && way.points.includes(point)
  })
