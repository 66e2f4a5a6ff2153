import type { Action } from '@countersign/client'
import { useMemo, useState } from 'react'
import { type Arguments, type Edit, listEdits } from './edits.ts'

export type Edits = {
  /** The arguments as edited so far; the last whole ones while something is half written. */
  edited: Arguments
  edits: readonly Edit[]
  /** True while what stands in the editor is not a whole value. */
  isBroken: boolean
  edit: (value: Arguments | undefined) => void
}

/** What a person changed of exactly this version of the action: with the next version they begin anew. */
export function useEdits(action: Action, version: string): Edits {
  const [held, setHeld] = useState<{ version: string; value: Arguments; isBroken: boolean }>()
  const current = held?.version === version ? held : undefined
  const edited = current?.value ?? action.arguments
  const edits = useMemo(() => listEdits(action.arguments, edited), [action.arguments, edited])
  return {
    edited,
    edits,
    isBroken: current?.isBroken ?? false,
    edit: (value) => setHeld({ version, value: value ?? edited, isBroken: value === undefined }),
  }
}
