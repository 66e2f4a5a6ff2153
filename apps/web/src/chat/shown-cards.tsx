import type { Action, ShownAction } from '@countersign/client'
import { createContext, type ReactNode, use, useEffect, useRef, useState } from 'react'

/** The waiting cards that a page has shown. The server checks a typed word against them. */
export interface ShownCards {
  /** Follows a card from now on. The box begins and ends with an element of its own. @returns Ends it. */
  watch(card: Omit<ShownAction, 'forMs'>, box: HTMLElement): () => void
  /** The cards that were on the screen, and for how long. */
  list(): ShownAction[]
  /** Counts anew: the person was elsewhere. */
  restart(): void
}

interface Look {
  readonly card: Omit<ShownAction, 'forMs'>
  /** Since when it is on the screen, by the clock of the page. */
  since: number | undefined
  /** How long it was there before. */
  earlierMs: number
}

const msOf = ({ since, earlierMs }: Look): number => earlierMs + (since === undefined ? 0 : performance.now() - since)

/** The maximum that the server accepts with one message. */
const MAX_SHOWN = 200

function createShownCards(): ShownCards {
  const looks = new Set<Look>()
  return {
    watch(card, box) {
      const look: Look = { card, since: undefined, earlierMs: 0 }
      const ends = [...box.children].filter((_, at, { length }) => at === 0 || at === length - 1)
      const unseen = new Set<Element>()
      let isOnScreen = false
      let wasShown = false
      let height = 0
      const screen = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
          if (target === box) isOnScreen = isIntersecting
          else if (isIntersecting) unseen.delete(target)
        }
        const isShown = isOnScreen && unseen.size === 0
        wasShown ||= isShown
        if (isShown === (look.since !== undefined)) return
        look.earlierMs = msOf(look)
        look.since = isShown ? performance.now() : undefined
      })
      // A card that grows, as it is loaded or opened, has parts that nobody has seen. Once the person has read it from its beginning to its
      // end, it grows by its buttons, so its end is enough.
      const size = new ResizeObserver(() => {
        const before = height
        height = box.offsetHeight
        if (height <= before) return
        screen.disconnect()
        Object.assign(look, { since: undefined, earlierMs: 0 })
        for (const end of wasShown ? ends.slice(-1) : ends) unseen.add(end)
        for (const element of [box, ...ends]) screen.observe(element)
      })
      looks.add(look)
      size.observe(box)
      return () => {
        looks.delete(look)
        size.disconnect()
        screen.disconnect()
      }
    },
    list: () =>
      [...looks]
        .map((look) => ({ ...look.card, forMs: Math.floor(msOf(look)) }))
        .filter(({ forMs }) => forMs > 0)
        .slice(0, MAX_SHOWN),
    restart() {
      for (const look of looks) Object.assign(look, { since: look.since && performance.now(), earlierMs: 0 })
    },
  }
}

/** Follows which waiting cards are on the screen. A card counts from when it was there from its beginning to its end, as long as some of it stays. */
export function useShownCards(): ShownCards {
  const [cards] = useState(createShownCards)
  useEffect(() => {
    const onReturn = () => document.visibilityState === 'visible' && cards.restart()
    addEventListener('focus', onReturn)
    document.addEventListener('visibilitychange', onReturn)
    return () => {
      removeEventListener('focus', onReturn)
      document.removeEventListener('visibilitychange', onReturn)
    }
  }, [cards])
  return cards
}

export const ShownCardsContext = createContext<ShownCards | undefined>(undefined)

/** The place of a card whose time on the screen counts while its action waits. */
export function ShownCard({ action, children }: { action: Action; children: ReactNode }) {
  const cards = use(ShownCardsContext)
  const box = useRef<HTMLDivElement>(null)
  const { id: actionId, revision, digest } = action
  const isWaiting = action.state === 'proposed'
  useEffect(
    () => (isWaiting && box.current ? cards?.watch({ actionId, revision, digest }, box.current) : undefined),
    [cards, isWaiting, actionId, revision, digest],
  )
  return (
    <div ref={box}>
      <div className="card-end" />
      {children}
      <div className="card-end" />
    </div>
  )
}
