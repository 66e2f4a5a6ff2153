type Place = { search: string; id: string }

let left: Place | undefined

/** Notes which row of the inbox somebody opens, for when they come back to the same view. */
export function leavePlace(id: string): void {
  left = { search: window.location.search, id }
}

/** The row that was opened from this view, until {@link forgetPlace}. */
export const placeLeft = (): string | undefined => (left?.search === window.location.search ? left.id : undefined)

/** Forgets it: somebody is back. */
export function forgetPlace(): void {
  left = undefined
}
