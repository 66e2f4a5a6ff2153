import { needsOpening } from '@countersign/core/text'
import { type ActionRow, stored } from '../store/index.ts'

/**
 * Why an action is decided only by somebody who names it: its risk is high, or it has more text than is shown at once. Undefined for one
 * that a typed word, or an approval that names none, may mean.
 */
export function whyNotUnnamed(row: Pick<ActionRow, 'description' | 'risk' | 'arguments' | 'preview'>): string | undefined {
  const risk = stored.riskOf(row)
  const { level } = risk
  if (level === 'high' || level === 'critical') {
    return `"${row.description}" has ${level} risk, which a typed word never decides. Decide it on its card.`
  }
  if (!needsOpening({ arguments: stored.argumentsOf(row), preview: stored.previewOf(row), risk })) return undefined
  return `"${row.description}" has more text than is shown at once, so a typed word does not decide it. Open the text on its card and decide there.`
}
