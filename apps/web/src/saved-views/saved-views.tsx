import type { SavedView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useAddress } from '../shell/use-address.ts'
import { Button } from '../ui/index.ts'
import { queryOfView, useSavedViews } from './use-saved-views.ts'
import './saved-views.css'

type PageProps = { page: SavedView['page'] }

/** The saved views of a page, as further tabs. */
export function SavedTabs({ page }: PageProps) {
  const { views = [] } = useSavedViews()
  const query = queryOfView(useAddress().params)
  return views
    .filter((view) => view.page === page)
    .map((view) => (
      <Link key={view.query} to={`?${view.query}`} aria-current={view.query === query ? 'page' : undefined}>
        {showInvisible(view.name)}
      </Link>
    ))
}

/** Buttons that save the filters of the page, or rename and delete the saved view that is open. */
export function SavedViewButtons({ page }: PageProps) {
  const { views, failure, change } = useSavedViews()
  const { params } = useAddress()
  const [isNaming, setNaming] = useState(false)
  const query = queryOfView(params)
  // A tab of the page itself, without any filter, needs no name.
  if (!views || [...params.keys()].every((name) => name === 'view')) return null
  const isOpen = (view: SavedView) => view.page === page && view.query === query
  const open = views.find(isOpen)
  const save = (name: string) =>
    change((known) =>
      known.some(isOpen) ? known.map((view) => (isOpen(view) ? { ...view, name } : view)) : [...known, { page, name, query }],
    )
  return (
    <div className="saved-view-buttons">
      {isNaming ? (
        <NameForm
          name={open?.name ?? ''}
          onClose={() => setNaming(false)}
          onSave={async (name) => {
            if (await save(name)) setNaming(false)
          }}
        />
      ) : (
        <>
          <Button onClick={() => setNaming(true)}>{open ? 'Rename view' : 'Save view'}</Button>
          {open && <Button onClick={() => void change((known) => known.filter((view) => !isOpen(view)))}>Delete view</Button>}
        </>
      )}
      {failure !== '' && <span role="alert">{failure}</span>}
    </div>
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
        className="line-field"
        aria-label="Name of the view"
        value={typed}
        maxLength={40}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Button type="submit">Save</Button>
      <Button onClick={onClose}>Cancel</Button>
    </form>
  )
}
