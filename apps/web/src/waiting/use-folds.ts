import { useMemo, useState } from 'react'

type Folded = { all: boolean; except: ReadonlySet<string> }

const NONE: ReadonlySet<string> = new Set()
/** Kept for whoever comes back from the page of an action. */
let kept: Folded = { all: false, except: NONE }

export type Folds = ReturnType<typeof useFolds>

/** Which groups of the inbox are folded. A group that comes after all were folded is folded too. */
export function useFolds() {
  const [folded, setFolded] = useState(kept)
  return useMemo(() => {
    const { all, except } = folded
    const change = (to: Folded) => {
      kept = to
      setFolded(to)
    }
    return {
      areAllFolded: all,
      isFolded: (groupId: string): boolean => all !== except.has(groupId),
      toggle: (groupId: string) => change({ all, except: except.symmetricDifference(new Set([groupId])) }),
      foldAll: (isFolded: boolean) => change({ all: isFolded, except: NONE }),
    }
  }, [folded])
}
