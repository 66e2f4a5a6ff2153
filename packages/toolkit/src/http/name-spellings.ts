/** Returns the same form for all names that a program may take for one because it compares without case, as those on .NET and Go do. */
export const foldCase = (name: string): string => name.normalize('NFKC').toLowerCase().toUpperCase()

/**
 * Returns the same form for all names of a parameter that a service may take for one. PHP writes `user.id`, `user id` and `user[id` as `user_id`,
 * and leaves out spaces at the start and what follows a zero.
 */
export const foldParameter = (name: string): string => foldCase(name.replace(/\0.*$/s, '').trimStart()).replaceAll(/[ .[]/g, '_')

/** Names of parameters, of which a service may take two for one. It may also read `role[]` and `role[x]` as values of `role`. */
export interface ParameterNames {
  add(name: string): void
  /** Returns an added name that a service may take for the same as this one. */
  like(name: string): string | undefined
}

export function createParameterNames(): ParameterNames {
  const whole = new Map<string, string>()
  const roots = new Map<string, string>()
  return {
    add(name) {
      whole.set(foldParameter(name), name)
      roots.set(foldParameter(rootOf(name)), name)
    },
    like: (name) => whole.get(foldParameter(name)) ?? whole.get(foldParameter(rootOf(name))) ?? roots.get(foldParameter(name)),
  }
}

/** Returns what stands before the first bracket. */
const rootOf = (name: string): string => (name.indexOf('[') > 0 ? name.slice(0, name.indexOf('[')) : name)

/**
 * True for the parameter or the member of a form with which Rails, Laravel and others take a POST for another method. Laravel also reads it in
 * JSON.
 */
export const isMethodOverride = (name: string): boolean => foldParameter(name) === '_METHOD'
