import { z } from 'zod'

export const Text = z.string().refine((text) => text.isWellFormed(), 'has half of a character pair')
export const Path = z.string().min(1).max(1_000).describe('From the root of the workspace, with / between folders: src/index.ts')
export const Edits = z
  .array(z.object({ oldText: Text.min(1), newText: Text }))
  .min(1)
  .max(100)
