import { expect, test } from 'vitest'
import { z } from 'zod'
import { approvedInput } from './approved-input.ts'

test('an input runs as it is where its JSON is what people approved', async () => {
  const schema = z.object({ at: z.string().transform((text) => new Date(text)) })
  const input = { at: new Date(0), note: undefined }
  const approved = { at: '1970-01-01T00:00:00.000Z' }
  expect(await approvedInput(schema, { input, approved })).toBe(input)
  expect(await approvedInput(schema, { input, approved: { at: '1971-01-01T00:00:00.000Z' } })).toEqual({ at: new Date(31_536_000_000) })
})

test.each([new Set(['ann']), new Map([['ann', 1]]), Number.NaN, () => 'ann', Object.create({ ann: 1 })])(
  'an input that a card does not show whole does not run: %s',
  async (to) => {
    const schema = z.object({ to: z.array(z.string()).transform(() => to) })
    const approved = JSON.parse(JSON.stringify({ to }))
    await expect(approvedInput(schema, { input: { to }, approved })).rejects.toMatchObject({ name: 'CarryOutError', kind: 'refused' })
  },
)
