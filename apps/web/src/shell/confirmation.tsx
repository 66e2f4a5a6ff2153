import { lazy } from 'react'
import type { ConfirmProps } from '../ui/confirm.tsx'
import { Boundary } from './boundary.tsx'

const Confirm = lazy(() => import('../ui/confirm.tsx'))

/** Asks for confirmation before an irreversible change. The dialog is loaded when it opens. */
export const Confirmation = (props: ConfirmProps) => (
  <Boundary>
    <Confirm {...props} />
  </Boundary>
)
