import type { Objective, ObjectiveChange } from '@countersign/client'
import { showInvisible } from '@countersign/react'

const STANDING: Record<Objective['standing'], string> = {
  closed: 'Closed',
  unmeasured: 'No key result',
  reached: 'Reached',
  on_track: 'On track',
  at_risk: 'At risk',
  overdue: 'Overdue',
}
const OUTCOME: Record<Exclude<Objective['state'], 'open'>, string> = { achieved: 'Achieved', missed: 'Missed', dropped: 'Dropped' }

/** Returns the status of an objective in words. A closed one gives its outcome. */
export const standingWords = ({ state, standing }: Objective): string => (state === 'open' ? STANDING[standing] : OUTCOME[state])

export const KIND_WORDS: Record<ObjectiveChange['kind'], string> = {
  created: 'Created',
  updated: 'Changed',
  closed: 'Closed',
  reopened: 'Reopened',
  key_result_added: 'Key result added',
  key_result_updated: 'Key result changed',
  progress_recorded: 'Progress recorded',
  key_result_removed: 'Key result taken out',
}

/** `42 %`, `1,250.5 EUR`; as many places as there are. */
export function valueWords(value: number, unit: string): string {
  const number = value.toLocaleString('en', { maximumFractionDigits: 6 })
  return unit === '' ? number : `${number} ${showInvisible(unit)}`
}

const valueText = (value: unknown): string =>
  value === undefined || value === null || value === ''
    ? 'nothing'
    : showInvisible(typeof value === 'string' ? value : JSON.stringify(value))

const entriesOf = (value: unknown): [string, unknown][] => (typeof value === 'object' && value !== null ? Object.entries(value) : [])

/** Lists the fields of a change with the old and the new value. Either may be absent. */
export function changedFields({ before, after }: ObjectiveChange): { field: string; was?: string; is?: string }[] {
  const was = new Map(entriesOf(before))
  const is = new Map(entriesOf(after))
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((field) => field !== 'keyResults' && (was.get(field) || is.get(field) || typeof (was.get(field) ?? is.get(field)) === 'number'))
    .map((field) => ({
      field: showInvisible(field),
      ...(was.has(field) && { was: valueText(was.get(field)) }),
      ...(is.has(field) && { is: valueText(is.get(field)) }),
    }))
}
