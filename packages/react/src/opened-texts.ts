import { createContext } from 'react'
import type { Opened } from './card/card-facts.ts'

/** The texts of the card around: which of them are open, and how they report that they were read. */
export const OpenedTexts = createContext<Opened>({ has: () => true, open: () => {}, read: () => {} })
