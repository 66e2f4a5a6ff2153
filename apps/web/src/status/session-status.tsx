import type { Action, Session } from '@countersign/client'
import { alarmsOf, alarmText, joined } from '../live/waiting-words.ts'
import { Icon, type IconName } from '../ui/index.ts'

type Status = Session['status']

const SHOWN: Record<Status, { word: string; icon: IconName }> = {
  idle: { word: 'New', icon: 'circle' },
  active: { word: 'Working', icon: 'dots' },
  waiting_approval: { word: 'Waiting for approval', icon: 'clock' },
  completed: { word: 'Done', icon: 'check' },
  error: { word: 'Error', icon: 'alert' },
}

/** Every status with its word. */
export const SESSION_STATUSES = Object.entries(SHOWN).map(([status, { word }]) => [status, word] as const)

type SessionStatusProps = {
  status: Status
  /** The actions that wait in it. */
  pending: readonly Pick<Action, 'overdue'>[]
  /** How many of its actions are of unknown outcome. */
  unknown: number
  /** Drops the explanation, for narrow places. */
  short?: boolean
}

/** A session's status as icon and word, and what in it needs a person more than that. */
export function SessionStatus({ status, pending, unknown, short = false }: SessionStatusProps) {
  const { word, icon } = SHOWN[status]
  const counts = { overdue: pending.filter(({ overdue }) => overdue).length, unknown }
  const alarms = alarmsOf(counts, short).join(', ')
  return (
    <span className="status" data-testid="session-status" data-status={status} data-alarm={alarms !== ''}>
      <Icon name={alarms === '' ? icon : 'alert'} size={14} />
      <span title={joined(word, alarmText(counts))}>{joined(short ? word.replace(' for approval', '') : word, alarms)}</span>
    </span>
  )
}
