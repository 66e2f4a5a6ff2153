import { decimalText, PERIOD } from '@countersign/core'
import { z } from 'zod'

// The descriptions are for the model.

export const ObjectiveId = z
  .string()
  .regex(/^obj_[0-9a-z]{20,40}$/)
  .describe('Id of an objective, obj_…')
export const KeyResultId = z
  .string()
  .regex(/^kre_[0-9a-z]{20,40}$/)
  .describe('Id of a key result, kre_…')
export const Title = z.string().trim().min(1).max(200)
export const Description = z.string().max(5_000)
export const Owner = z.string().trim().min(1).max(200).describe('Who answers for it: a name, a team or an address')
export const Period = z.string().regex(PERIOD).describe('2026, 2026-H2, 2026-Q4 or 2026-11')
export const Note = z.string().trim().min(1).max(2_000).describe('What is behind the number')
const Metric = z.string().trim().max(200).describe('What is measured')
const Unit = z.string().trim().max(30).describe('For example %, days, EUR')
export const Value = z
  .number()
  .refine((value) => decimalText(value) !== undefined, 'must have at most 15 digits, 6 of them behind the point')
export const NewKeyResult = z.strictObject({
  title: Title,
  metric: Metric.default(''),
  unit: Unit.default(''),
  start: Value,
  target: Value,
  current: Value.optional().describe('Default: the start'),
})
export const KeyResultChanges = {
  title: Title.optional(),
  metric: Metric.optional(),
  unit: Unit.optional(),
  start: Value.optional(),
  target: Value.optional(),
}
