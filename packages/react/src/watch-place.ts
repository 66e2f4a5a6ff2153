/** How far something may move before a click that was aimed at it may hit something else. */
const SHIFT_PX = 8

type Place = { top: number; left: number }

const place = (element: Element): Place => {
  const { top, left } = element.getBoundingClientRect()
  return { top, left }
}

const apart = (a: Place, b: Place): boolean => Math.abs(a.top - b.top) >= SHIFT_PX || Math.abs(a.left - b.left) >= SHIFT_PX

/**
 * Calls `onShift` when `element` stands ≥ 8 px from where it stood, whatever moved it: scrolling, or something that grew above it.
 * @returns `look` compares at once (for the moment of a click, before any observer has run); `stop` ends it.
 */
export function watchPlace(element: Element, onShift: () => void): { look: () => void; stop: () => void } {
  let stood = place(element)
  let observer: IntersectionObserver | undefined
  const look = () => {
    const stands = place(element)
    if (!apart(stands, stood)) return
    stood = stands
    onShift()
    observe()
  }
  // No event tells of a move. An intersection area cut to exactly the element's own box makes every move an intersection change;
  // asking for the box on every frame would say the same and keep the processor awake.
  function observe(): void {
    observer?.disconnect()
    const { top, left, bottom, right } = element.getBoundingClientRect()
    const { clientWidth, clientHeight } = document.documentElement
    const margins = [-top, right - clientWidth, bottom - clientHeight, -left]
    observer = new IntersectionObserver(look, {
      root: document,
      rootMargin: margins.map((px) => `${Math.ceil(px)}px`).join(' '),
      threshold: [0, 0.25, 0.5, 0.75, 0.9, 1],
    })
    observer.observe(element)
  }
  observe()
  addEventListener('scroll', look, { capture: true, passive: true })
  addEventListener('resize', look)
  return {
    look,
    stop: () => {
      observer?.disconnect()
      removeEventListener('scroll', look, { capture: true })
      removeEventListener('resize', look)
    },
  }
}
