/** Holds the place of something that is still loading, at its final height; it says nothing and does not move. */
export function Skeleton({ height, width, className = '' }: { height: number; width?: number | string; className?: string }) {
  return <div className={`skeleton ${className}`} style={{ height, width }} />
}
