/** A repeatable stream of random numbers. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number
  /** True with the probability `p`. */
  chance(p: number): boolean
  pick<T>(list: readonly T[]): T
  /** One of the names, each as often as its weight says. */
  weigh<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T
}

/** The numbers of `seed`: sfc32, small and fast; two seeds next to each other have nothing in common. */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9
  let b = seed >>> 0
  let c = Math.floor(seed / 2 ** 32) >>> 0
  let counter = 1
  const word = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  for (let i = 0; i < 15; i++) word()

  const next = () => word() / 2 ** 32
  const int = (below: number) => Math.floor(next() * below)
  return {
    next,
    int,
    chance: (p) => next() < p,
    pick: (list) => {
      if (list.length === 0) throw new Error('there is nothing to pick from')
      return list[int(list.length)] as (typeof list)[number]
    },
    weigh: (weights) => {
      const entries = Object.entries<number | undefined>(weights)
      let left = next() * entries.reduce((sum, [, weight = 0]) => sum + weight, 0)
      for (const [name, weight = 0] of entries) {
        left -= weight
        if (left < 0) return name as keyof typeof weights
      }
      return entries.at(-1)?.[0] as keyof typeof weights
    },
  }
}

/** A source of bytes for ids. */
export const bytesFrom =
  (random: Random) =>
  (bytes: Uint8Array): void => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.int(256)
  }
