import type { AuditActor } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useId } from 'react'
import { personIdOf } from '../people/offered-people.ts'
import { useServices } from '../services.tsx'
import { useFollowedText } from '../ui/use-followed-text.ts'
import { SYSTEM_NAME } from './sentences.ts'

type ActorFilterProps = {
  /** The id that the list is limited to. */
  actor: string | undefined
  /** Those of the rows that are shown, whose names may be typed. */
  known: readonly AuditActor[]
  onSet: (id: string) => void
}

/** Limits the record to what one person, agent or program did, by its name. An id is taken as well. */
export function ActorFilter({ actor, known, onSet }: ActorFilterProps) {
  const { client } = useServices()
  const listId = useId()
  const names = new Map(known.map((one) => [one.id, one.kind === 'system' ? SYSTEM_NAME : one.name]))
  const shown = actor === undefined ? '' : (names.get(actor) ?? actor)
  // The rows of the answer say the name.
  const [typed, setTyped] = useFollowedText(showInvisible(shown))

  async function take(text: string): Promise<void> {
    if (text === shown || (text !== '' && text === actor)) return
    const ids = [...names].filter(([, name]) => name === text).map(([id]) => id)
    // Somebody of whom no row is shown: only an admin may search for people, and for others the text is an id.
    onSet(ids.length === 1 && ids[0] !== undefined ? ids[0] : text === '' ? '' : await personIdOf(client, text).catch(() => text))
  }

  return (
    <label>
      By
      <input
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        list={listId}
        placeholder="A name"
        maxLength={120}
        autoComplete="off"
        spellCheck={false}
        // The filter applies once the name is complete, not on every key.
        onBlur={({ currentTarget }) => void take(currentTarget.value.trim())}
        onKeyDown={(event) => event.key === 'Enter' && void take(event.currentTarget.value.trim())}
      />
      <datalist id={listId}>
        {[...names].map(([id, name]) => (
          <option key={id} value={showInvisible(name)} />
        ))}
      </datalist>
    </label>
  )
}
