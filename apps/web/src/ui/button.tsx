import type { ComponentProps } from 'react'

type ButtonProps = ComponentProps<'button'> & {
  /** `contained` is the one that is meant to be pressed, of which a screen has one. Default: `text`. */
  variant?: 'text' | 'outlined' | 'contained' | undefined
  /** `error` for what cannot be taken back. */
  color?: 'primary' | 'error'
}

/** A button, which submits no form by default. Looks are in base.css; a link that looks like a button has the same class and attributes. */
export function Button({ variant = 'text', color = 'primary', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button {...rest} type={type} className={`button ${className}`} data-variant={variant} data-color={color} />
}

/** A square button with an icon. Give it a name with `aria-label`. */
export function IconButton({ className = '', type = 'button', ...rest }: ComponentProps<'button'>) {
  return <button {...rest} type={type} className={`icon-button ${className}`} />
}
