import type { Action } from '@countersign/client'

/** What a screen reader is to hear; render each in its own live region, or use {@link CardAnnouncer}. */
export type Announcements = { polite: string; assertive: string }

export function useCardAnnouncements(_actions: readonly Action[]): Announcements {
  return { polite: '', assertive: '' }
}

export function CardAnnouncer({ actions }: { actions: readonly Action[] }) {
  const { polite, assertive } = useCardAnnouncements(actions)
  return (
    <>
      <div aria-live="polite">{polite}</div>
      <div aria-live="assertive">{assertive}</div>
    </>
  )
}
