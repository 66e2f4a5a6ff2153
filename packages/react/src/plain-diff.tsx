import { EndMark } from './end-mark.tsx'
import { showLines } from './show-text.ts'

/**
 * A diff as it is, where the part of the card that marks it could not be loaded: the signs of its lines say what changes. Spaces at the end of a
 * line and letters that look alike are not told apart, so it is good enough to decline, and not to approve.
 */
export const PlainDiff = ({ diff, path }: { diff: string; path: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <pre tabIndex={0} data-part={path}>
    {showLines(diff)}
    <EndMark path={path} />
  </pre>
)
