import type { ApprovalCardProps } from './card-props.ts'

/** One action, for a person to decide. */
export function ApprovalCard({ action }: ApprovalCardProps) {
  return (
    <article data-testid="approval-card" data-state={action.state}>
      {action.description}
    </article>
  )
}
