import { parseJson } from '@countersign/core/text'
import { showLines } from '@countersign/react'

/** A value as it is stored, whole; text that holds JSON is laid out, other text stands as it is. */
export function RawJson({ label, value }: { label: string; value: unknown }) {
  return (
    <figure className="raw-json">
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long values scroll, and the keyboard must reach that */}
      <pre className="raw" tabIndex={0}>
        {layOut(value)}
      </pre>
    </figure>
  )
}

function layOut(value: unknown): string {
  // Line by line: breaks are layout here, everything else that cannot be seen is spelled out.
  return showLines(asText(value))
}

/** A text whose values would not be the same once they were read, such as a number of 19 digits or a key that is there twice, stays as it is. */
export function asText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? 'nothing'
  const parsed = parseJson(value, { maxBytes: Number.POSITIVE_INFINITY })
  return parsed.ok ? JSON.stringify(parsed.value, null, 2) : value
}
