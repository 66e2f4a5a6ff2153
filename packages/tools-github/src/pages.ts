import type { Answered, At, GithubClient, Rest } from './client.ts'
import { repositoryOf } from './repository.ts'
import { hasMore } from './views.ts'

const PAGE_SIZE = 100
/** Pages are read one after the other, and a preview times out after 5 s by default. */
const MAX_PAGES = 5

/** The maximum number of items of a list that a card rests on. */
export const MOST_READ = PAGE_SIZE * MAX_PAGES

interface List<Page, T> {
  client: GithubClient
  repository: string
  /** Asks for one page. */
  ask(rest: Rest, at: At & { page: number; per_page: number }): Promise<Answered<Page>>
  itemsOf(page: Page): readonly T[]
}

export interface Listing<T> {
  items: T[]
  /** False when there are more than {@link MOST_READ}: then the items are the first of them. */
  isWhole: boolean
}

/** Reads a list to its end, or to {@link MOST_READ} items. GitHub lists reviews from the oldest, so that the first page misses the latest. */
export async function readPages<Page, T>({ client, repository, ask, itemsOf }: List<Page, T>, signal: AbortSignal): Promise<Listing<T>> {
  const items: T[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data, headers } = await client.read(signal, repositoryOf(repository), (rest, at) =>
      ask(rest, { ...at, page, per_page: PAGE_SIZE }),
    )
    items.push(...itemsOf(data))
    if (!hasMore(headers)) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}
