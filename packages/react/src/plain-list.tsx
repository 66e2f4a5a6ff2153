import { valueText } from '@countersign/core/text'
import { showInvisible } from './show-text.ts'
import { ReadAs } from './values/read-as.tsx'

const NO_NAME = { name: '' }

/** The entries of a list of texts and numbers, such as labels or recipients; undefined for every other value. */
export const itemsOf = (value: unknown): unknown[] | undefined =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((item) => typeof item === 'number' || (typeof item === 'string' && item.trim() !== ''))
    ? value
    : undefined

/**
 * The entries of a list, each in a frame of its own: a comma in one does not make it two. `kept`: the entries that the other version has as
 * well.
 */
export const PlainList = ({ items, kept = [] }: { items: readonly unknown[]; kept?: readonly unknown[] | undefined }) =>
  items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the entries of one list are never reordered
    <span key={index}>
      {index > 0 && ' '}
      <bdi className="cs-item" data-kept={kept.includes(item) || undefined}>
        <ReadAs value={item} place={NO_NAME}>
          {showInvisible(valueText(item))}
        </ReadAs>
      </bdi>
    </span>
  ))
