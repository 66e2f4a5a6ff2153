/** How often things happened, over all worlds: a campaign in which something never happens proves nothing about it. */
export class Counts {
  readonly byName = new Map<string, number>()

  hit(name: string, times = 1): void {
    this.byName.set(name, (this.byName.get(name) ?? 0) + times)
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [name, times] of other) this.hit(name, times)
  }
}
