/** A button of the page, by its accessible name. */
export type Control = { name: string; focus: () => void }

/**
 * Returns the visible buttons of the page, each name once, without those of a card, which decide. The palette moves the focus to a button and
 * does not press it, so that the Enter that chose a result has no effect of its own.
 */
export function controlsOf(page: ParentNode): readonly Control[] {
  const byName = new Map<string, Control>()
  for (const element of page.querySelectorAll<HTMLElement>('main :is(button:enabled, summary):not(.cs-card *)')) {
    const name = (element.getAttribute('aria-label') ?? element.textContent).trim()
    if (name === '' || byName.has(name) || !element.checkVisibility()) continue
    byName.set(name, { name, focus: () => element.focus() })
  }
  return [...byName.values()]
}
