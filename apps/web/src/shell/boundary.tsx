import { Component, type ReactNode, Suspense } from 'react'
import { errorText } from '../errors.ts'
import { Button, Notice } from '../ui/index.ts'

type BoundaryProps = { fallback?: ReactNode; children: ReactNode }

/** Around every part that is loaded on its own or may fail on its own: the rest of the page stays, and says what happened. */
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
