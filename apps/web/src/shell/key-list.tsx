import { useShortcuts } from '../preferences/shortcuts.ts'
import { Button } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { KEYS } from './keys.ts'

/** All keys, and the switch for the single ones. */
export default function KeyList({ onClose }: { onClose: () => void }) {
  const [shortcuts, setShortcuts] = useShortcuts()
  return (
    <Dialog open onClose={onClose} aria-labelledby="key-help-title" fullWidth maxWidth="xs">
      <div className="dialog key-help">
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
        <div className="dialog-end">
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
