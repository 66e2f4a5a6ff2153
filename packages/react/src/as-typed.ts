/** For fields of names and values: the keyboard of a phone must not write `item-7` as `Item-7`, or curl the quotes of JSON. */
export const AS_TYPED = { autoCapitalize: 'none', autoCorrect: 'off' } as const
