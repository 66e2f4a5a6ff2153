import { Component, type ReactNode, Suspense } from 'react'
import { errorText } from '../errors.ts'
import { Button, Notice } from '../ui/index.ts'

type BoundaryProps = { fallback?: ReactNode; children: ReactNode }

/** Error boundary for each part that loads separately. The rest of the page stays usable and shows the error. */
export class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state = { error: undefined as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === undefined) return <Suspense fallback={this.props.fallback}>{this.props.children}</Suspense>
    return (
      <div role="alert" className="boundary">
        <Notice tone="error" action={<Button onClick={() => location.reload()}>Reload</Button>}>
          This part could not be shown. {errorText(this.state.error)}
        </Notice>
      </div>
    )
  }
}
