import { useMemo } from 'react'
import { readImage } from './read-image.ts'

/**
 * A value that is a picture, above its text; nothing for any other text. The bytes are the value's own: nothing is fetched. A frame and a line of
 * the card stand around it, because a picture can show anything, also a card.
 */
export function ShownImage({ text }: { text: string }) {
  const image = useMemo(() => readImage(text), [text])
  if (image === undefined) return null
  const { type, src, bytes, width, height, refused } = image
  const size = `${type}, ${width > 0 ? `${width} × ${height} pixels, ` : ''}${bytes.toLocaleString('en')} bytes`
  return (
    <span className="cs-image">
      <span className="cs-note">
        {refused === undefined ? `Picture in this value (${size}). What it shows is not verified.` : `Picture (${size}): ${refused}.`}
      </span>
      {refused === undefined ? <img src={src} width={width} height={height} alt={`The value: ${size}`} /> : null}
    </span>
  )
}
