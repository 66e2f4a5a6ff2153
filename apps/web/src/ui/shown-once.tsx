import { type ReactNode, useEffect, useRef } from 'react'
import { Notice } from './notice.tsx'

/** Shows what is in sight only once, such as a secret. It takes the focus and comes into view: on a phone it would appear above the screen. */
export function ShownOnce({ testId, children }: { testId: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    box.current?.focus({ preventScroll: true })
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div role="alert" ref={box} tabIndex={-1} data-testid={testId}>
      <Notice tone="warning">{children}</Notice>
    </div>
  )
}
