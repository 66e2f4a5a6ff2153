import { useEffect } from 'react'

const MOST = 99

/** The icon of the tab with a number in its corner. */
const iconWith = (text: string): string =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-linecap="round" stroke-linejoin="round"><rect x="1" y="1" width="22" height="22" rx="6" fill="#27457d"/><path d="M5.5 11.5l3 3 5.5-6" stroke="#fff" stroke-width="2"/><rect x="${text.length > 1 ? 7 : 11}" y="10" width="${text.length > 1 ? 17 : 13}" height="14" rx="7" fill="#c62828"/><text x="${text.length > 1 ? 15.5 : 17.5}" y="21" font-family="sans-serif" font-size="11" font-weight="700" fill="#fff" text-anchor="middle">${text}</text></svg>`)}`

/** Shows on the icon of the tab, and of the installed app, how many actions wait for this person. */
export function useBadge(count: number): void {
  const text = count > MOST ? `${MOST}+` : String(count)
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (!link) return
    link.dataset.plain ??= link.href
    link.href = text === '0' ? link.dataset.plain : iconWith(text)
  }, [text])
  useEffect(() => {
    // Where there is no app, the browser may refuse: the title and the icon of the tab say the same.
    const done = count > 0 ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.()
    done?.catch(() => undefined)
  }, [count])
}
