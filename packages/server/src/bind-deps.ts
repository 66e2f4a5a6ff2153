/** The same functions without their first parameter. */
type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (deps: never, ...rest: infer Rest) => infer Answer ? (...rest: Rest) => Answer : never
}

/** Returns the functions with their dependencies, the first parameter of each, filled in. */
export const bindDeps = <Deps, Functions extends Record<string, (deps: Deps, ...rest: never[]) => unknown>>(
  deps: Deps,
  functions: Functions,
): Bound<Functions> =>
  Object.fromEntries(Object.entries(functions).map(([name, call]) => [name, call.bind(undefined, deps)])) as Bound<Functions>
