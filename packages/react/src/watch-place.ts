/** How far something may move before a click that was aimed at it may hit something else. */
const SHIFT_PX = 8

const apartPx = (a: DOMRect, b: DOMRect): number => Math.abs(a.top - b.top) + Math.abs(a.left - b.left)

/**
 * Calls `onShift` when `element` stands ≥ 8 px from where it stood, whatever moved it: scrolling, or something that grew above it.
 * @returns `look` compares at once (for the moment of a click, before any observer has run); `stop` ends it.
 */
export function watchPlace(element: Element, onShift: () => void): { look: () => void; stop: () => void } {
  let stood = element.getBoundingClientRect()
  let observed = stood
  let observer: IntersectionObserver | undefined
  const look = () => {
    const stands = element.getBoundingClientRect()
    if (apartPx(stands, stood) >= SHIFT_PX) {
      stood = stands
      onShift()
    }
    // Each small step begins another observation: together they may be a move.
    if (apartPx(stands, observed) >= 1) observe()
  }
  // The browser sends no event when an element moves. An intersection area cut to exactly the element's own box makes every move an intersection change;
  // asking for the box on every frame would say the same and keep the processor awake.
  function observe(): void {
    observer?.disconnect()
    observed = element.getBoundingClientRect()
    const { clientWidth, clientHeight } = document.documentElement
    const margins = [-observed.top, observed.right - clientWidth, observed.bottom - clientHeight, -observed.left]
    observer = new IntersectionObserver(look, {
      root: document,
      rootMargin: margins.map((px) => `${Math.ceil(px)}px`).join(' '),
      threshold: [0, 0.25, 0.5, 0.75, 1],
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
