import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

/**
 * A part of a card that is loaded when it is first needed: most cards are decided without it. Where it cannot be loaded, the rest of the card
 * stands.
 */
export const lazyPart = <Props extends object>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> =>
  lazy<ComponentType<Props>>(() =>
    load().then(
      (loaded) => ({ default: loaded }),
      () => ({ default: Missing }),
    ),
  )

const Missing = () => <p className="cs-note">A part of this card could not be loaded. Reload the page.</p>
