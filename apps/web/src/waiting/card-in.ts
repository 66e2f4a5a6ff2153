/** The card in the pane, if there is one. */
export const cardIn = (pane: HTMLElement | null): HTMLElement | null => pane?.querySelector<HTMLElement>('.cs-card') ?? null

/** Gives the card a key as if it had been pressed on it: what the card does to prevent accidents holds for the keys of the inbox too. */
export function pressOn(card: HTMLElement, key: string): void {
  card.focus()
  card.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}

/** Opens the form for edited arguments, brings it into view and puts the focus on it; does nothing where the card offers none. */
export function openEdit(card: HTMLElement): void {
  const form = card.querySelector<HTMLDetailsElement>('details.cs-edit')
  if (form === null) return
  for (let at: HTMLDetailsElement | null = form; at; at = at.parentElement?.closest('details') ?? null) at.open = true
  form.querySelector('summary')?.focus()
  // Its fields come later, below what is in view.
  const growth = new ResizeObserver(() => {
    form.scrollIntoView({ block: 'start' })
    if (!form.open || form.querySelector('input, select, textarea')) growth.disconnect()
  })
  growth.observe(form)
}
