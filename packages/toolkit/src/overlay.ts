/**
 * Returns a copy of `base` with other values for some of its properties. Lazy properties (getters) stay lazy: a spread would evaluate all
 * of them, for every tool of a large description at once.
 * @example
 * overlay(draft, { name: 'github.issues.create' })
 */
export function overlay<Base extends object, Change extends object>(base: Base, change: Change): Omit<Base, keyof Change> & Change {
  const copy: object = Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(base), ...Object.getOwnPropertyDescriptors(change) },
  )
  return copy as Omit<Base, keyof Change> & Change
}

/** Works a value out when it is first asked for, and once. */
export function once<T>(work: () => T): () => T {
  let done: { value: T } | undefined
  return () => {
    done ??= { value: work() }
    return done.value
  }
}
