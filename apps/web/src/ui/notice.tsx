import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

type Tone = 'plain' | 'warning' | 'error'

const ICONS: Record<Tone, IconName> = { plain: 'clock', warning: 'alert', error: 'alert' }

/** Shows a one-line notice with its action at the end. */
export function Notice({
  tone = 'plain',
  action,
  children,
  testId,
}: {
  tone?: Tone
  action?: ReactNode
  children: ReactNode
  testId?: string
}) {
  return (
    <div className="notice" data-tone={tone} data-testid={testId}>
      <Icon name={ICONS[tone]} />
      <div className="notice-text">{children}</div>
      {action}
    </div>
  )
}
