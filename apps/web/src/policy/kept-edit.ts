import type { PolicyView } from '@countersign/client'
import { keepDraft, readDraft } from '../drafts.ts'

/** A changed text of the policy with the version that it is made from, why, and whether it is only to be tried. */
export type Edited = { text: string; base: PolicyView; baseText: string; reason: string; shadow: boolean }

/** Begins an edit. */
export const editOf = (text: string, base: PolicyView, baseText: string): Edited => ({ text, base, baseText, reason: '', shadow: false })

const DRAFT = 'policy'

/** Keeps an edit until it is saved or left, or the tab is closed: the replay beside it leads to other pages, and back. */
export function keepEdit(edited: Edited | undefined, proposed: string | null): void {
  const isChanged = edited !== undefined && edited.text !== edited.baseText
  keepDraft(DRAFT, isChanged ? JSON.stringify({ edited, proposed }) : '')
}

/** Returns the edit that was kept. @param proposed The tool that the address proposes a rule for: an edit without that rule is not the one that is asked for. */
export function keptEdit(proposed: string | null): Edited | undefined {
  const kept = readDraft(DRAFT)
  if (kept === '') return undefined
  const { edited, proposed: before }: { edited: Edited; proposed: string | null } = JSON.parse(kept)
  // A tab may hold an edit from before the reason was kept.
  return proposed === null || proposed === before ? { ...editOf('', edited.base, ''), ...edited } : undefined
}
