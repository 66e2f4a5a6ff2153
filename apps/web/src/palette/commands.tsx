import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react'

/** Something that the page offers in the palette. It asks a person further: nothing is decided by it. */
export type Command = { name: string; run: () => void }

const NONE: readonly Command[] = []
const CommandsContext = createContext({ commands: NONE, offer: (_: readonly Command[]) => {} })

/** Keeps what the page that is shown offers. */
export function CommandsProvider({ children }: { children: ReactNode }) {
  const [commands, offer] = useState(NONE)
  const value = useMemo(() => ({ commands, offer }), [commands])
  return <CommandsContext value={value}>{children}</CommandsContext>
}

/** What the page that is shown offers. */
export const useCommands = (): readonly Command[] => use(CommandsContext).commands

/** Offers `now` in the palette as long as the page is shown. */
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
