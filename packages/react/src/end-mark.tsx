import { useContext, useEffect, useRef } from 'react'
import { OpenedTexts } from './opened-texts.ts'

/** The end of a text: once it is on the screen, and not clipped by a box that scrolls, the text counts as read. */
export function EndMark({ path }: { path: string }) {
  const { read } = useContext(OpenedTexts)
  const mark = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (mark.current === null) return
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) read(path)
    })
    observer.observe(mark.current)
    return () => observer.disconnect()
  }, [path, read])
  return <span ref={mark} className="cs-end" aria-hidden="true" />
}
