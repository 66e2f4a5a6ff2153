import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { errorText } from '../errors.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'
import { Skeleton } from './skeleton.tsx'

type LoadedProps<Data> = {
  of: UseQueryResult<Data>
  /** A placeholder of the final size, so that the layout does not shift when the data arrives. */
  height: number
  children: (data: Data) => ReactNode
}

/** Shows the data of a query, a placeholder while it loads, and on failure the error with a retry button. Stale data stays visible. */
export function Loaded<Data>({ of: { data, error, isPending, refetch }, height, children }: LoadedProps<Data>) {
  const failure = error && (
    <div role="alert">
      <Notice tone="error" action={<Button onClick={() => refetch()}>Try again</Button>}>
        {data === undefined ? '' : 'This is no longer current. '}
        {errorText(error)}
      </Notice>
    </div>
  )
  return (
    <>
      {failure}
      {isPending && (
        <div aria-busy="true">
          <Skeleton height={height} />
        </div>
      )}
      {data !== undefined && children(data)}
    </>
  )
}
