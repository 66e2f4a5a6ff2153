import { inOrder, type JsonValue, type PreviewField } from '@countersign/core'
import { isSameChange, oldLinesOf, readChange } from './text-change.ts'

/** A value for a comparison: the order of its members says nothing. */
export const textOf = (value: JsonValue | undefined): string | undefined =>
  value === undefined ? undefined : JSON.stringify(inOrder(value))

/** True when both cards show the same values and the same changes of texts, however those are drawn. */
export const isSamePreview = (shown: readonly PreviewField[], now: readonly PreviewField[]): boolean =>
  shown.length === now.length && shown.every((field, at) => isSameField(field, now[at]))

/**
 * True when both say the same. How a change of a text is drawn depends on the time that there was to compare both texts: as a short diff, as a
 * diff of everything, or as both texts.
 */
export function isSameField(one: PreviewField, other: PreviewField | undefined): boolean {
  if (other === undefined) return false
  if (writtenOf(one) === writtenOf(other)) return true
  if (one.diff === undefined && other.diff === undefined) return false
  const [was, is] = [readChange(one), readChange(other)]
  return was !== undefined && is !== undefined && writtenOf(restOf(one)) === writtenOf(restOf(other)) && isSameChange(was, is)
}

/**
 * True when both show the same old value. Of a diff and both texts, only the lines of the diff are compared: the precondition tells whether the
 * rest is the same.
 */
export function isSameOldValue(shown: PreviewField, now: PreviewField): boolean {
  if ((shown.diff === undefined) === (now.diff === undefined)) return textOf(shown.oldValue) === textOf(now.oldValue)
  const [was, is] = [readChange(shown), readChange(now)]
  return was !== undefined && is !== undefined && oldLinesOf(was, is) !== undefined
}

const writtenOf = (field: Partial<PreviewField>): string | undefined => textOf(JSON.parse(JSON.stringify(field)))

const restOf = ({ diff: _, oldValue: _old, newValue: _new, ...rest }: PreviewField): Partial<PreviewField> => rest
