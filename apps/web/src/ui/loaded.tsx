import Button from '@mui/material/Button'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { errorText } from '../errors.ts'
import { Notice } from './notice.tsx'
import { Skeleton } from './skeleton.tsx'

type LoadedProps<Data> = {
  of: UseQueryResult<Data>
  /** What it would look like, so that nothing moves when it comes. */
  height: number
  children: (data: Data) => ReactNode
}

/** What a query has found; before that the place it takes, and what went wrong with a way to ask again. Old data stays in sight. */
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
