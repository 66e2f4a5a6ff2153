import { showLines } from '@countersign/core/text'

/** Shows, beside a field, the lines of its text that contain invisible characters, with these characters spelled out. */
export function Unseen({ text }: { text: string }) {
  const lines = text.split('\n').map((line) => ({ line, shown: showLines(line) }))
  const told = lines.filter(({ line, shown }) => line !== shown)
  if (told.length === 0) return null
  return (
    <div className="cs-unknown cs-unseen" role="note">
      It holds what cannot be seen:
      <pre>{told.map(({ shown }) => shown).join('\n')}</pre>
    </div>
  )
}
