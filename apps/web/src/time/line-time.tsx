import { clockText } from '@countersign/react'
import { fullTime } from './relative.ts'
import { useNow } from './use-now.ts'

/** When one line of many happened: the time of day, after its date unless it is today. */
export const LineTime = ({ at }: { at: string }) => (
  <time dateTime={at} title={fullTime(at)}>
    {clockText(at, useNow())}
  </time>
)
