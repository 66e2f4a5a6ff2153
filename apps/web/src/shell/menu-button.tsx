import { useWaiting } from '../live/use-waiting.ts'
import { joined } from '../live/waiting-words.ts'
import { Icon, IconButton } from '../ui/index.ts'
import { useShell } from './shell-context.ts'

/** Opens the sidebar where it is a drawer. The count of what waits for this person is on it, because the closed drawer hides the badge. */
export function MenuButton() {
  const { openSidebar } = useShell()
  const { count } = useWaiting().forMe
  return (
    <IconButton
      className="menu-button"
      aria-label={joined('Open menu', count > 0 ? `${count} waiting for you` : '')}
      onClick={openSidebar}
      data-testid="open-sidebar"
    >
      <Icon name="menu" />
      {count > 0 && (
        <span className="badge menu-badge" aria-hidden="true">
          {count > 99 ? '99+' : count}
        </span>
      )}
    </IconButton>
  )
}
