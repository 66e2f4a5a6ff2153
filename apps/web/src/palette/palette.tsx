import { isComposing, showInvisible } from '@countersign/react'
import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { useNavigate } from 'react-router'
import { Icon } from '../ui/index.ts'
import { Dialog } from '../ui/overlays.ts'
import { type Found, useFound } from './use-found.ts'
import './palette.css'

/** Finds a page, action, session, tool, rule or person by name and opens it, runs the commands of every page and of this one, and leads to its buttons. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const { found, isAsking } = useFound(useDeferredValue(text))
  const [marked, setMarked] = useState(0)
  const navigate = useNavigate()
  const id = useId()
  const at = Math.min(marked, found.length - 1)

  function go(one: Found | undefined) {
    if (one === undefined) return
    // Closed first: the dialog gives the focus back, and a command may move it on.
    flushSync(onClose)
    if ('to' in one) navigate(one.to)
    else one.run()
  }

  function onKeyDown(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) setMarked((at + by + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter' && !isComposing(event)) go(found[at])
    else return
    event.preventDefault()
  }

  return (
    <Dialog open onClose={onClose} aria-labelledby={`${id}-title`} fullWidth maxWidth="sm">
      <div className="palette">
        <h2 id={`${id}-title`} className="visually-hidden">
          Go to
        </h2>
        <input
          autoFocus
          role="combobox"
          aria-label="Go to a page, action, session, tool or person"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={found[at] && `${id}-${at}`}
          aria-autocomplete="list"
          placeholder="Go to…"
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value)
            setMarked(0)
          }}
          onKeyDown={onKeyDown}
        />
        <div id={`${id}-list`} role="listbox" aria-label="Found" className="palette-list">
          {found.map((one, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are on the field
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
            <div
              key={one.key}
              id={`${id}-${place}`}
              role="option"
              aria-selected={place === at}
              ref={(item) => {
                if (place === at) item?.scrollIntoView({ block: 'nearest' })
              }}
              onPointerMove={() => setMarked(place)}
              onClick={() => go(one)}
            >
              <Icon name={one.icon} />
              <span className="palette-name clip">{showInvisible(one.name)}</span>
              <span className="palette-more clip">{one.more === undefined ? one.kind : `${one.more} · ${one.kind}`}</span>
            </div>
          ))}
        </div>
        <p role="status" className={found.length === 0 ? 'muted' : 'visually-hidden'}>
          {found.length > 0 ? `${found.length} found` : isAsking ? 'Searching…' : 'Nothing has this name.'}
        </p>
      </div>
    </Dialog>
  )
}
