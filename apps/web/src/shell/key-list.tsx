import { useShortcuts } from '../preferences/shortcuts.ts'
import { Button } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'

const KEYS: { where: string; keys: [string, string][] }[] = [
  {
    where: 'Anywhere',
    keys: [
      ['Ctrl + K, ⌘ K', 'Go to a page, action, session, tool or person'],
      ['G, then I, H, P, T or D', 'Inbox, decided actions, policy, tools, delegations'],
      ['/', 'Search on the page'],
      ['U', 'Undo what you just approved'],
      ['?', 'This list'],
    ],
  },
  {
    where: 'Writing a message',
    keys: [
      ['Enter', 'Send'],
      ['Shift + Enter', 'New line'],
    ],
  },
  {
    where: 'On an approval card',
    keys: [
      ['A, then Enter', 'Approve'],
      ['D', 'Decline, with a reason'],
      ['Ctrl + Enter', 'Approve at once'],
    ],
  },
  {
    where: 'In the inbox',
    keys: [
      ['J', 'Next action'],
      ['K', 'Previous action'],
      ['Enter', 'Open it'],
      ['A, then Enter', 'Approve'],
      ['D', 'Decline, with a reason'],
      ['A or D, with a choice', 'See all that are chosen, before you approve or decline them'],
      ['E', 'Edit before you approve'],
      ['X', 'Choose it, to take several together'],
      ['Shift + X', 'Choose all that are alike'],
      ['S', 'Snooze it, or all that are chosen'],
      ['M', 'Assign it, or all that are chosen'],
      ['Esc', 'Back to the list'],
    ],
  },
]

/** All keys, and the switch for the single ones. */
export default function KeyList({ onClose }: { onClose: () => void }) {
  const [shortcuts, setShortcuts] = useShortcuts()
  return (
    <Dialog open onClose={onClose} aria-labelledby="key-help-title" fullWidth maxWidth="xs">
      <div className="key-help">
        <h2 id="key-help-title">Keyboard shortcuts</h2>
        {KEYS.map(({ where, keys }) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p className="muted">
          Single keys act only outside text fields, and never approve by themselves. They are switched {shortcuts ? 'on' : 'off'}.
        </p>
        <div className="key-help-actions">
          <Button variant="outlined" onClick={() => setShortcuts(!shortcuts)}>
            Switch {shortcuts ? 'off' : 'on'}
          </Button>
          <Button variant="contained" onClick={onClose}>
            Close
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
