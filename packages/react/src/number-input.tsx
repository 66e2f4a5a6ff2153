import type { ComponentProps } from 'react'

/**
 * A field for a number that the wheel leaves as it is. Browsers change a number that has the focus when somebody scrolls with the pointer
 * on it, some of them while the page scrolls on, so that nobody sees it. The field leaves the focus first, and only the page scrolls.
 */
export const NumberInput = (props: ComponentProps<'input'>) => (
  <input {...props} type="number" onWheel={({ currentTarget }) => currentTarget.blur()} />
)
