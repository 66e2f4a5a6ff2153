import { z } from 'zod'
import { readPath } from './path.ts'

export const Text = z.string().refine((text) => text.isWellFormed(), 'has half of a character pair')

/**
 * A path becomes the one spelling that the tools act on before anything is decided: a rule on `args.path` would not see that `./a//b` is
 * `a/b`. What is no path stays as it is and is refused when it is used, with its reason.
 */
const spelled = (text: string): string => {
  const read = readPath(text)
  return 'problem' in read ? text : read.text
}
/** A folder; empty for the root. */
export const FolderPath = z.string().max(1_000).overwrite(spelled)
/** A path of a file. That of the root stays as it is and is refused when it is used. */
export const FilePath = z
  .string()
  .max(1_000)
  .overwrite((text) => spelled(text) || text)
export const Path = FilePath.min(1).describe('From the root of the workspace, with / between folders: src/index.ts')
export const Edits = z
  .array(z.object({ oldText: Text.min(1), newText: Text }))
  .min(1)
  .max(100)
