import { z } from 'zod'

/** The page of a list to read. A cursor may hold a name of 120 characters of four bytes each, in base64. */
export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('The most entries in the answer.'),
  cursor: z.string().max(2_000).optional().describe('`nextCursor` of the page before.'),
})
