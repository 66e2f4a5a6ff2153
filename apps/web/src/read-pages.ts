/** One page of a list of the API. */
export type ListOf<Item> = { items: Item[]; nextCursor: string | null }

/**
 * Reads all pages of a list, 200 items each.
 * @param read Reads the page at a cursor.
 * @param most The most pages that are read; default all.
 */
export async function readPages<Item>(
  read: (page: { limit: number; cursor?: string }) => Promise<ListOf<Item>>,
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < most; pages++) {
    const page: ListOf<Item> = await read({ limit: 200, ...(cursor !== null && { cursor }) })
    all.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return all
}
