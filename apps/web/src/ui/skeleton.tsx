/** Placeholder for loading content, at its final height. It is silent for screen readers and not animated. */
export function Skeleton({ height, width, className = '' }: { height: number; width?: number | string; className?: string }) {
  return <div className={`skeleton ${className}`} style={{ height, width }} />
}
