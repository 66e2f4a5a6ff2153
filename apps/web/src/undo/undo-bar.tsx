import { showInvisible } from '@countersign/react'
import { useLayoutEffect } from 'react'
import { isLayerOpen, isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { useServices } from '../services.tsx'
import { Seconds } from './seconds.tsx'
import { undoStarts, useStarts } from './starts.ts'
import './undo.css'

/** Shows, on every page, how long the last approval can be undone, with a button for it. */
export function UndoBar() {
  const { client } = useServices()
  const { actions, endsAtMs, isUndoing, said } = useStarts()
  const [shortcuts] = useShortcuts()
  const canUndo = actions.length > 0 && !isUndoing

  // The key acts from the first drawing of the bar on.
  useLayoutEffect(() => {
    if (!shortcuts || !canUndo) return
    const onKey = (event: KeyboardEvent) => {
      const { key, target, repeat, ctrlKey, metaKey, altKey } = event
      if (key.toLowerCase() !== 'u' || repeat || ctrlKey || metaKey || altKey || isTyping(target) || isLayerOpen()) return
      event.preventDefault()
      void undoStarts(client)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shortcuts, canUndo, client])

  function takeBack() {
    // The bar disappears with its button: the focus goes where it goes on a new page.
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
    void undoStarts(client)
  }

  const [only] = actions
  const what = actions.length === 1 && only ? `Approved “${showInvisible(only.description)}”` : `Approved ${actions.length} actions`
  return (
    <div className="undo-place">
      {/* Said once: the seconds that pass are no news. */}
      <p role="status" className="visually-hidden">
        {said || (actions.length > 0 ? `${what}. It can be undone for some seconds.` : '')}
      </p>
      {said !== '' && <div className="undo-bar">{said}</div>}
      {actions.length > 0 && (
        <div className="undo-bar" data-testid="undo-bar">
          <span>
            <span className="undo-what">{what}</span> · {actions.length === 1 ? 'starts' : 'start'} in <Seconds untilMs={endsAtMs} />
          </span>
          <button type="button" className="undo-button" disabled={isUndoing} onClick={takeBack}>
            Undo{shortcuts && <KeyHint />}
          </button>
        </div>
      )}
    </div>
  )
}

const KeyHint = () => (
  <span aria-hidden="true">
    <kbd>U</kbd>
  </span>
)
