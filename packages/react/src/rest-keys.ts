/** The pause in typing after which single keys act again. */
const PAUSE_MS = 1_000

/** True when a key pressed on `target` is text for a field. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.closest('input, textarea, select') !== null || target.isContentEditable)

let stop = () => {}

/**
 * Stops letters and Enter from being shortcuts of the card or its page after a field disappeared while somebody was typing in it: until
 * no key was pressed for a second. Keys for another field pass.
 */
export function restKeys(): void {
  stop()
  let lastMs = performance.now()
  const onKey = (event: KeyboardEvent) => {
    const { key, timeStamp } = event
    if (timeStamp - lastMs > PAUSE_MS) return stop()
    const isText = key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
    if ((!isText && key !== 'Enter') || isField(event.target)) return
    lastMs = timeStamp
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  // Before every other listener of the page.
  addEventListener('keydown', onKey, true)
  stop = () => removeEventListener('keydown', onKey, true)
}
