import type { Session } from '@countersign/client'
import { Icon, type IconName } from '../ui/index.ts'

type Status = Session['status']

const SHOWN: Record<Status, { word: string; icon: IconName }> = {
  idle: { word: 'New', icon: 'circle' },
  active: { word: 'Working', icon: 'dots' },
  waiting_approval: { word: 'Waiting for approval', icon: 'clock' },
  completed: { word: 'Done', icon: 'check' },
  error: { word: 'Error', icon: 'alert' },
}

export const SESSION_STATUSES = Object.keys(SHOWN) as readonly Status[]

export const sessionStatusWord = (status: Status): string => SHOWN[status].word

/** A session's status as icon and word; `short` drops the explanation for narrow places. */
export function SessionStatus({ status, short = false }: { status: Status; short?: boolean }) {
  const { word, icon } = SHOWN[status]
  const text = short ? word.replace(' for approval', '') : word
  return (
    <span className="status" data-testid="session-status" data-status={status}>
      <Icon name={icon} size={14} />
      {text}
    </span>
  )
}
