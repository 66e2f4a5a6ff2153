import type { SavedView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useAddress } from '../shell/use-address.ts'
import { Button } from '../ui/index.ts'
import { queryOfView, useSavedViews } from './use-saved-views.ts'
import './saved-views.css'

/** The saved views of a page as further tabs, and the buttons that save, rename and delete the one that is open. */
export function SavedViews({ page }: { page: SavedView['page'] }) {
  const { views: all, failure, change } = useSavedViews()
  const { params } = useAddress()
  const [isNaming, setNaming] = useState(false)
  if (!all) return null
  const query = queryOfView(params)
  const views = all.filter((view) => view.page === page)
  const open = views.find((view) => view.query === query)
  const isOpen = (view: SavedView) => view.page === page && view.query === query
  const save = (name: string) =>
    change((known) =>
      known.some(isOpen) ? known.map((view) => (isOpen(view) ? { ...view, name } : view)) : [...known, { page, name, query }],
    )
  return (
    <>
      {views.map((view) => (
        <Link key={view.query} to={`?${view.query}`} aria-current={view === open ? 'page' : undefined}>
          {showInvisible(view.name)}
        </Link>
      ))}
      {isNaming ? (
        <NameForm
          name={open?.name ?? ''}
          onClose={() => setNaming(false)}
          onSave={async (name) => {
            if (await save(name)) setNaming(false)
          }}
        />
      ) : (
        query !== '' && (
          <span className="saved-view-buttons">
            <Button size="small" onClick={() => setNaming(true)}>
              {open ? 'Rename view' : 'Save view'}
            </Button>
            {open && (
              <Button size="small" onClick={() => void change((known) => known.filter((view) => !isOpen(view)))}>
                Delete view
              </Button>
            )}
          </span>
        )
      )}
      {failure !== '' && <span role="alert">{failure}</span>}
    </>
  )
}

type NameFormProps = { name: string; onSave: (name: string) => void; onClose: () => void }

function NameForm({ name, onSave, onClose }: NameFormProps) {
  const [typed, setTyped] = useState(name)
  return (
    <form
      className="saved-view-buttons"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed.trim() !== '') onSave(typed.trim())
      }}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose()
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the form opened at a press
        autoFocus
        aria-label="Name of the view"
        value={typed}
        maxLength={40}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Button size="small" type="submit">
        Save
      </Button>
      <Button size="small" onClick={onClose}>
        Cancel
      </Button>
    </form>
  )
}
