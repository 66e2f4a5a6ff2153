import type { KeyboardEvent } from 'react'

/**
 * True for a key that an input method takes, such as Enter that picks a word: it sends and chooses nothing. Safari ends the composition
 * before that key arrives, and only `keyCode`, 229, tells it then.
 */
export const isComposing = ({ nativeEvent: { isComposing, keyCode } }: KeyboardEvent): boolean => isComposing || keyCode === 229
