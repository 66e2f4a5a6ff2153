import { showInvisible } from '@countersign/react'

/** An argument as JSON, beside its value before or after an edit. */
export const textOf = (value: unknown): string => (value === undefined ? 'nothing' : showInvisible(JSON.stringify(value)))
