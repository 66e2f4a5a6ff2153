import { type ComponentPropsWithoutRef, forwardRef } from 'react'

/**
 * Why a button cannot be pressed now; empty when it can. `new`: it appeared or changed, or the window came back, less than 500 ms ago.
 * `moved`: it moved less than 500 ms ago. `busy`: a decision is being sent. `paused`: not connected. `blocked`: something is missing first.
 */
export type Rest = '' | 'new' | 'moved' | 'busy' | 'paused' | 'blocked'

/**
 * A button of the card. With `rest`, it says whether it can be pressed: `aria-disabled`, and the reason in `data-rest`. It stays where it
 * is and keeps the focus while it rests.
 */
// React 18 hands no `ref` to a function component: without `forwardRef`, the focus would not go to Cancel there.
export const CardButton = forwardRef<HTMLButtonElement, ComponentPropsWithoutRef<'button'> & { rest?: Rest }>(function CardButton(
  { rest, className = '', ...more },
  ref,
) {
  return (
    <button
      ref={ref}
      type="button"
      className={`cs-button ${className}`}
      aria-disabled={rest === undefined ? undefined : rest !== ''}
      data-rest={rest || undefined}
      {...more}
    />
  )
})
