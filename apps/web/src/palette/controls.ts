/** A button of the page, by its accessible name. */
export type Control = { name: string; focus: () => void }

/**
 * Returns the buttons that the page shows, each name once. The palette leads to a button and does not press it: what is found by its name is
 * not done by the Enter that chose it. Those of a card, which decide, are left to the card.
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
