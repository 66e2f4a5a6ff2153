import type { Action, AssignTo } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useState } from 'react'
import { useOfferedPeople } from '../people/offered-people.ts'
import { useServices } from '../services.tsx'
import { Button, SearchInput, Unseen } from '../ui/index.ts'
import './assign.css'

/** People who are offered at once: more are found by typing. */
const OFFERED = 5

/** The roles that can be assigned an action: those that may decide about it. */
export const rolesOf = ({ requires: { roles, alsoRoles = [] } }: Pick<Action, 'requires'>): string[] => [
  ...new Set([...roles, ...alsoRoles.flat()]),
]

type AssignChoicesProps = {
  roles: readonly string[]
  /** True when this person may decide. */
  isForMe: boolean
  isBusy: boolean
  /** Words at the end of a button. */
  more?: (to: AssignTo) => string
  /** @param name "you", "Ben", "finance". */
  onChoose: (to: AssignTo, name: string) => void
}

/** Offers this person, the roles that may decide, and people, who are found by typing. */
export function AssignChoices({ roles, isForMe, isBusy, more, onChoose }: AssignChoicesProps) {
  const { me } = useServices()
  const [typed, setTyped] = useState('')
  const people = useOfferedPeople(typed)
  const offer = (words: string, to: AssignTo, name: string, isFirst = false) => (
    <Button key={JSON.stringify(to)} variant="outlined" autoFocus={isFirst} disabled={isBusy} onClick={() => onChoose(to, name)}>
      <bdi>{words}</bdi>
      {more && <span className="assign-more">{more(to)}</span>}
    </Button>
  )
  return (
    <>
      {isForMe && offer('I’m on it', { person: me.id }, 'you', true)}
      {roles.map((role) => offer(`The role ${showInvisible(role)}`, { role }, showInvisible(role)))}
      <SearchInput
        aria-label="Find a person"
        placeholder="Find a person"
        autoFocus={!isForMe}
        maxLength={100}
        typed={typed}
        onType={setTyped}
      />
      <Unseen text={typed} />
      {people.slice(0, OFFERED).map(({ id, name }) => offer(showInvisible(name), { person: id }, showInvisible(name)))}
    </>
  )
}
