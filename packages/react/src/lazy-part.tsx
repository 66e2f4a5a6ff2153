import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

import { NOT_LOADED } from './card/card-facts.ts'

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

const Missing = () => <p className="cs-note">{NOT_LOADED}</p>
