/** So long nobody may have pressed a key before single keys act again. */
const PAUSE_MS = 1_000

/** True when a key pressed on `target` is text for a field. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.closest('input, textarea, select') !== null || target.isContentEditable)

let stop = () => {}

/**
 * Takes the keys of a sentence whose field has gone, so that no letter of it and no Enter is a shortcut, of the card or of its page: all
 * of them, until nobody has pressed one for a second. Keys for another field pass.
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
