/** Shows progress in percent, with a text for screen readers. */
export function Bar({ value, label }: { value: number; label: string }) {
  return (
    <div className="progress">
      <progress max={100} value={value} aria-label={label} />
      <span className="progress-value">{value} %</span>
    </div>
  )
}
