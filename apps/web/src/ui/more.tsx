import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { Button } from './button.tsx'

/** Loads the next page of a list. */
export function More({ of: { hasNextPage, isFetchingNextPage, fetchNextPage } }: { of: UseInfiniteQueryResult }) {
  if (!hasNextPage) return null
  return (
    <div className="more">
      {/* Not `disabled`, which takes the focus from who pressed it. */}
      <Button variant="outlined" aria-disabled={isFetchingNextPage} onClick={() => !isFetchingNextPage && fetchNextPage()}>
        {isFetchingNextPage ? 'Loading…' : 'Show more'}
      </Button>
    </div>
  )
}
