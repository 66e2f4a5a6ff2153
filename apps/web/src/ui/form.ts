import type { FormEvent } from 'react'

/** Returns an `onSubmit` handler that calls `send` with the data of the form, and keeps the browser from loading a page. */
export const handleSubmit = (send: (data: FormData) => void) => (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault()
  send(new FormData(event.currentTarget))
}

/** Returns the text of a field, trimmed; empty if the form has no such field. */
export const textOf = (data: FormData, name: string): string => String(data.get(name) ?? '').trim()
