import { useEffect, useState } from 'react'
import { isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { Button, Dialog, Icon, IconButton } from '../ui/index.ts'

const KEYS: { where: string; keys: [string, string][] }[] = [
  { where: 'Anywhere', keys: [['?', 'This list']] },
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
    where: 'In the list of waiting approvals',
    keys: [
      ['J or ↓', 'Next card'],
      ['K or ↑', 'Previous card'],
    ],
  },
]

/** The button and the `?` key that list all keys. */
export function KeyHelp() {
  const [open, setOpen] = useState(false)
  const [shortcuts, setShortcuts] = useShortcuts()

  useEffect(() => {
    if (!shortcuts) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shortcuts])

  return (
    <>
      <IconButton data-keys aria-label="Keyboard shortcuts" onClick={() => setOpen(true)}>
        <Icon name="help" />
      </IconButton>
      <Dialog open={open} onClose={() => setOpen(false)} aria-labelledby="key-help-title" fullWidth maxWidth="xs">
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
            <Button variant="contained" onClick={() => setOpen(false)}>
              Close
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  )
}
