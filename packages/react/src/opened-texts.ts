import { createContext } from 'react'

/** Which texts of one card a person has opened, and which they have seen to the end, by their path. */
export type Opened = { has: (path: string) => boolean; open: (path: string) => void; read: (path: string) => void }
export const OpenedTexts = createContext<Opened>({ has: () => true, open: () => {}, read: () => {} })
