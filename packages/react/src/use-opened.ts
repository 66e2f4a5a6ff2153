import type { Action } from '@countersign/client'
import { hiddenCharacters, hiddenParts, MAX_HIDDEN_CHARS, needsOpening } from '@countersign/core/text'
import { useCallback, useMemo, useState } from 'react'
import type { Opened } from './opened-texts.ts'

export type Reading = {
  opened: Opened
  /** True while something must be read before this can be approved. */
  isHidden: boolean
  /** How many characters have not been shown yet. */
  leftChars: number
  /** The first part that was not read yet. */
  next: string | undefined
  /** True where this action has ever had something to read. */
  wasHidden: boolean
}

/** What this person opened and read to its end, for exactly this version of the action. */
export function useOpened(action: Action, version: string): Reading {
  const [paths, setPaths] = useState<ReadonlySet<string>>(new Set())
  const add = useCallback((key: string) => setPaths((before) => (before.has(key) ? before : new Set(before).add(key))), [])
  const open = useCallback((path: string) => add(`${version} open ${path}`), [add, version])
  const read = useCallback((path: string) => add(`${version} read ${path}`), [add, version])
  const opened = useMemo(() => ({ has: (path: string) => paths.has(`${version} open ${path}`), open, read }), [paths, version, open, read])
  const parts = useMemo(() => new Map(hiddenParts(action).map((part) => [part.path, part])), [action])
  const isRead = (path: string): boolean => {
    const part = parts.get(path)
    if (part?.isFolded && !opened.has(path)) return false
    return (part?.isFolded && part.chars <= MAX_HIDDEN_CHARS) || paths.has(`${version} read ${path}`)
  }
  return {
    opened,
    isHidden: needsOpening(action, isRead),
    leftChars: hiddenCharacters(action, isRead),
    next: [...parts.keys()].find((path) => !isRead(path)),
    wasHidden: needsOpening(action),
  }
}
