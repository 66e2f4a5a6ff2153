import { mediaBytes, mediaOf, type ToolMedia } from '@countersign/core/text'
import { showInvisible } from './show-text.ts'

/** Pictures that a browser draws without running anything; any other type is offered as a file. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/
const SOUND = /^audio\/[\w.+-]+$/

/** The pictures, sounds and files in a tool's result. They are part of the result, so nothing is fetched. */
export function ResultMedia({ result }: { result: Parameters<typeof mediaOf>[0] }) {
  const media = mediaOf(result)
  if (media.length === 0) return null
  return (
    <div className="cs-media">
      {media.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a result are never reordered
        <Medium key={index} media={one} />
      ))}
    </div>
  )
}

function Medium({ media }: { media: ToolMedia }) {
  const { type, mimeType, data, name } = media
  const words = `${showInvisible(name ?? type)} (${mimeType}, ${mediaBytes(media).toLocaleString('en')} bytes)`
  if (PICTURE.test(mimeType)) return <img src={`data:${mimeType};base64,${data}`} alt={`From the tool: ${words}`} />
  // biome-ignore lint/a11y/useMediaCaption: what a tool returned has no captions
  if (SOUND.test(mimeType)) return <audio controls src={`data:${mimeType};base64,${data}`} aria-label={`From the tool: ${words}`} />
  // Without its own type: what is saved is never opened as a page of ours.
  return (
    <a href={`data:application/octet-stream;base64,${data}`} download={name?.split(/[/\\]/).at(-1) || 'file'}>
      Save {words}
    </a>
  )
}
