import type { FormEvent } from 'react'

/** Returns a listener that hands the data of a form over when it is submitted, in place of the browser. */
export const onData = (send: (data: FormData) => void) => (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault()
  send(new FormData(event.currentTarget))
}

/** Returns the text of a field without spaces around it; empty where the form has no such field. */
export const textOf = (data: FormData, name: string): string => String(data.get(name) ?? '').trim()
