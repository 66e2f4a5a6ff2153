import type { Action } from '@countersign/client'
import { useMemo, useState } from 'react'
import { longRowPaths } from './change-rows.tsx'
import { longPaths } from './json-text.tsx'
import type { Opened } from './long-text.tsx'
import { isHighRisk } from './words.ts'

/** Which long texts this person opened, for exactly this version of the action, and whether one that must be seen is not. */
export function useOpened(action: Action, version: string): { opened: Opened; isHidden: boolean } {
  const [paths, setPaths] = useState<ReadonlySet<string>>(new Set())
  const opened = useMemo(
    () => ({
      has: (path: string) => paths.has(`${version} ${path}`),
      open: (path: string) => setPaths((before) => new Set(before).add(`${version} ${path}`)),
    }),
    [paths, version],
  )
  const long = useMemo(() => [...longPaths(action.arguments, 'arguments'), ...longRowPaths(action.preview)], [action])
  return { opened, isHidden: isHighRisk(action) && long.some((path) => !opened.has(path)) }
}
