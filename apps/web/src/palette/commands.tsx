import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react'

/** A command of the current page in the palette. It opens a dialog and decides nothing. */
export type Command = { name: string; run: () => void }

const NONE: readonly Command[] = []
const CommandsContext = createContext({ commands: NONE, offer: (_: readonly Command[]) => {} })

/** Keeps the commands that the current page offers. */
export function CommandsProvider({ children }: { children: ReactNode }) {
  const [commands, offer] = useState(NONE)
  const value = useMemo(() => ({ commands, offer }), [commands])
  return <CommandsContext value={value}>{children}</CommandsContext>
}

/** Returns the commands that the current page offers. */
export const useCommands = (): readonly Command[] => use(CommandsContext).commands

/** Offers commands in the palette while the page is shown. */
export function useOffer(now: readonly Command[]): void {
  const { offer } = use(CommandsContext)
  const latest = useRef(now)
  latest.current = now
  const names = now.map(({ name }) => name).join('\n')
  useEffect(() => {
    if (names === '') return
    offer(names.split('\n').map((name, at) => ({ name, run: () => latest.current[at]?.run() })))
    return () => offer(NONE)
  }, [names, offer])
}
