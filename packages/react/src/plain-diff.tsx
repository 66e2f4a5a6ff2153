import { showLines } from '@countersign/core/text'
import { EndMark } from './end-mark.tsx'

/** A diff as it is: where the part of the card that marks it could not be loaded, the signs of its lines say what changes. */
export const PlainDiff = ({ diff, path }: { diff: string; path: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <pre tabIndex={0} data-part={path}>
    {showLines(diff)}
    <EndMark path={path} />
  </pre>
)
